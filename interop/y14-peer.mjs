// Clients on @y/y 14 behind JSON lines, for tests/y14.rs. They choose their edits themselves, by a seed.
//
// `new {doc, clientID}`, `edit {doc, seed}` (r: what was done), `apply {doc, update, enc}`, `encode {doc, enc, sv?}`,
// `sv {doc}`, `json {doc}`, `free {doc}`; replies as in the adapter's protocol, with the updates that were emitted.
import { createInterface } from 'node:readline'
import { readFileSync } from 'node:fs'
import * as Y from '@y/y'

const VERSION = JSON.parse(readFileSync(new URL('./node_modules/@y/y/package.json', import.meta.url), 'utf8')).version
const hex = bytes => Buffer.from(bytes).toString('hex')
const unhex = text => new Uint8Array(Buffer.from(text, 'hex'))

/** name -> { doc, events } */
const sessions = new Map()
const ROOTS = ['t', 'a', 'm']

const dice = seed => {
  let state = seed >>> 0
  return n => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor(state / 4294967296 * n)
  }
}

const WORDS = ['a', 'bc', 'é', 'hello ', '中文']
const VALUES = [1, -0, 0.5, true, null, 'text', { x: 1, 10: [2] }, [1, 'two'], new Uint8Array([0, 255]), 1234567890123456n, undefined]
const KEYS = ['k', 'l', 'n']

/** All types of a document: every one of them may have children and attributes. */
const types = doc => {
  const found = []
  const walk = (type, depth) => {
    found.push(type)
    if (depth === 0) return
    for (const child of type.toArray()) if (child instanceof Y.Type) walk(child, depth - 1)
    for (const value of type.attrValues()) if (value instanceof Y.Type) walk(value, depth - 1)
  }
  for (const name of ROOTS) walk(doc.get(name), 3)
  return found
}

const edit = (doc, random) => {
  const pick = list => list[random(list.length)]
  const all = types(doc)
  const type = pick(all)
  const index = random(type.length + 1)
  switch (random(10)) {
    case 0: case 1: case 2: type.insert(index, pick(WORDS)); return 'insert text'
    case 3: type.insert(index, pick(WORDS), { b: true }); return 'insert formatted'
    case 4: type.insert(index, [pick(VALUES), pick(VALUES)]); return 'insert values'
    case 5: type.insert(index, [new Y.Type(random(2) === 0 ? 'node' : undefined)]); return 'insert type'
    case 6: {
      const len = Math.min(1 + random(4), type.length - index)
      if (len > 0) type.delete(index, len)
      return 'delete'
    }
    case 7: {
      const len = Math.min(1 + random(4), type.length - index)
      if (len > 0) type.format(index, len, { [pick(['b', 'i'])]: pick([true, null]) })
      return 'format'
    }
    case 8: type.setAttr(pick(KEYS), random(3) === 0 ? new Y.Type() : pick(VALUES)); return 'set'
    default: type.deleteAttr(pick(KEYS)); return 'remove'
  }
}

/** Values as text, with what JSON cannot say. */
const shown = value => JSON.stringify(value, (_, v) => {
  if (typeof v === 'bigint') return { $bigint: String(v) }
  if (v instanceof Uint8Array) return { $bytes: hex(v) }
  if (v === undefined) return { $undefined: true }
  // keys in one order: replicas need not agree on it
  if (v !== null && typeof v === 'object' && !Array.isArray(v)) {
    return Object.fromEntries(Object.entries(v).sort(([a], [b]) => a < b ? -1 : 1))
  }
  return v
})
/** Text comes in the pieces of its items, which differ between replicas. */
const joined = children => children.reduce((all, child) => {
  const last = all.length - 1
  if (typeof child === 'string' && typeof all[last] === 'string') all[last] += child
  else all.push(child)
  return all
}, [])
const content = type => ({
  name: type.name,
  children: joined(type.toArray()).map(child => child instanceof Y.Type ? content(child) : child),
  attrs: [...type.attrKeys()].sort().map(key => {
    const value = type.getAttr(key)
    return [key, value instanceof Y.Type ? content(value) : value]
  })
})

const ops = {
  hello: () => ({ name: 'y14', version: VERSION, protocol: 1, v2: true }),
  new: q => {
    const doc = new Y.Doc({ guid: 'g' })
    doc.clientID = q.clientID
    const session = { doc, events: [] }
    doc.on('update', update => session.events.push({ t: 'update', v1: hex(update), v2: null, origin: null }))
    doc.on('updateV2', update => { session.events.find(event => event.v2 === null).v2 = hex(update) })
    sessions.set(q.doc, session)
    return null
  },
  free: q => { sessions.delete(q.doc); return null },
  edit: (q, s) => {
    const random = dice(q.seed)
    return s.doc.transact(() => Array.from({ length: 1 + random(3) }, () => edit(s.doc, random)))
  },
  apply: (q, s) => { (q.enc === 2 ? Y.applyUpdateV2 : Y.applyUpdate)(s.doc, unhex(q.update), 'remote'); return null },
  encode: (q, s) => hex((q.enc === 2 ? Y.encodeStateAsUpdateV2 : Y.encodeStateAsUpdate)(s.doc, q.sv == null ? undefined : unhex(q.sv))),
  sv: (q, s) => hex(Y.encodeStateVector(s.doc)),
  json: (q, s) => shown(Object.fromEntries(ROOTS.map(name => [name, content(s.doc.get(name))])))
}

const answer = q => {
  const session = sessions.get(q.doc)
  try {
    const r = ops[q.op](q, session)
    return { ok: true, r, ev: session === undefined ? [] : session.events.splice(0) }
  } catch (error) {
    return { ok: false, err: String(error.stack), kind: 'error', ev: session === undefined ? [] : session.events.splice(0) }
  }
}

console.log = console.warn = console.error = (...args) => process.stderr.write(args.join(' ') + '\n')
for await (const line of createInterface({ input: process.stdin })) {
  if (line.trim() === '') continue
  process.stdout.write(JSON.stringify(answer(JSON.parse(line))) + '\n')
}
