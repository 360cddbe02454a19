// Real Yjs behind the adapter's protocol: JSON lines in, JSON lines out, strictly in order.
//
// Beyond version 1: `h` may be a path [handle, segment...] (number = index, string = key, {"embed": n} = n-th type in a
// text); `transact` runs several requests in one transaction (there is no `begin`); `batch` answers several at once;
// `shape` describes a type; `svFromUpdate`, `pending`. Of version 2: undo, snapshots, `log`, `clock`. The Rust side of the tests (tests/common) speaks the same.
import { createInterface } from 'node:readline'
import { readFileSync } from 'node:fs'

// lib0 takes Date.now when it is loaded: the time is ours before that.
const systemTime = Date.now
let fakeTime = null
Date.now = () => fakeTime ?? systemTime()
const Y = await import('yjs')

const VERSION = JSON.parse(readFileSync(new URL('./node_modules/yjs/package.json', import.meta.url), 'utf8')).version
const hex = bytes => Buffer.from(bytes).toString('hex')
const unhex = text => new Uint8Array(Buffer.from(text, 'hex'))

/** name -> { doc, nodes: Map<handle, type>, events: [], managers: Map<name, { um, log }> } */
const sessions = new Map()

class Failure extends Error {
  constructor (kind, message) {
    super(message)
    this.kind = kind
  }
}

// ---- values -------------------------------------------------------------------------------------------------------

const KINDS = [
  ['xmltext', Y.XmlText], ['xmlhook', Y.XmlHook], ['xmlelement', Y.XmlElement], ['xmlfragment', Y.XmlFragment],
  ['text', Y.Text], ['array', Y.Array], ['map', Y.Map]
]
const kindOf = type => KINDS.find(([, Class]) => type instanceof Class)[0]
const isMap = type => type instanceof Y.Map
const isText = type => type instanceof Y.Text

const read = v => {
  if (v === null || typeof v !== 'object') return v
  if (Array.isArray(v)) return v.map(read)
  switch (v.$) {
    case undefined: {
      const object = {}
      for (const key of Object.keys(v)) object[key] = read(v[key])
      return object
    }
    case 'undefined': return undefined
    case 'f64': return { NaN: NaN, Infinity: Infinity, '-Infinity': -Infinity, '-0': -0 }[v.v]
    case 'bigint': return BigInt(v.v)
    case 'bytes': return unhex(v.hex)
    case 'doc': return new Y.Doc({ ...(v.guid !== undefined && { guid: v.guid }), ...(v.autoLoad && { autoLoad: true }), ...(v.gc === false && { gc: false }) })
    case 'type': return readType(v)
    default: throw new Failure('error', `unknown tag ${v.$}`)
  }
}

const readType = v => {
  const attributes = type => {
    for (const [key, value] of Object.entries(v.attrs ?? {})) type.setAttribute(key, read(value))
    return type
  }
  switch (v.kind) {
    case 'array': return Y.Array.from((v.init ?? []).map(read))
    case 'map': return new Y.Map((v.init ?? []).map(([key, value]) => [key, read(value)]))
    case 'text': case 'xmltext': {
      const type = v.kind === 'text' ? new Y.Text() : new Y.XmlText()
      if (v.delta !== undefined) type.applyDelta(readDelta(v.delta))
      return attributes(type)
    }
    case 'xmlelement': case 'xmlfragment': {
      const type = v.kind === 'xmlelement' ? new Y.XmlElement(v.name) : new Y.XmlFragment()
      const children = (v.init ?? []).map(read)
      if (children.length > 0) type.insert(0, children)
      return attributes(type)
    }
    case 'xmlhook': {
      const type = new Y.XmlHook(v.name)
      for (const [key, value] of v.init ?? []) type.set(key, read(value))
      return type
    }
    default: throw new Failure('unsupported', `no kind ${v.kind}`)
  }
}

const readDelta = delta => delta.map(part => {
  const out = { ...part }
  if ('insert' in part) out.insert = read(part.insert)
  if ('attributes' in part) out.attributes = read(part.attributes)
  return out
})

const write = (v, session) => {
  switch (typeof v) {
    case 'undefined': return { $: 'undefined' }
    case 'bigint': return { $: 'bigint', v: String(v) }
    case 'number':
      if (Number.isNaN(v)) return { $: 'f64', v: 'NaN' }
      if (!Number.isFinite(v)) return { $: 'f64', v: v > 0 ? 'Infinity' : '-Infinity' }
      return Object.is(v, -0) ? { $: 'f64', v: '-0' } : v
    case 'object': {
      if (v === null) return null
      if (Array.isArray(v)) return v.map(item => write(item, session))
      if (v instanceof Uint8Array) return { $: 'bytes', hex: hex(v) }
      if (v instanceof Y.Doc) return { $: 'doc', guid: v.guid, gc: v.gc, autoLoad: v.autoLoad, shouldLoad: v.shouldLoad, meta: write(v.meta ?? null, session) }
      if (v instanceof Y.AbstractType) return { $: 'type', kind: kindOf(v), h: remember(session, v) }
      const object = {}
      for (const key of Object.keys(v)) object[key] = write(v[key], session)
      return object
    }
    default: return v
  }
}

// ---- handles ------------------------------------------------------------------------------------------------------

const handleOf = (session, type) => {
  const item = type._item
  if (item !== null) return `${item.id.client}:${item.id.clock}`
  for (const [name, root] of session.doc.share) if (root === type) return `@${name}`
  throw new Failure('error', 'a type without a document')
}
const remember = (session, type) => {
  const handle = handleOf(session, type)
  if (!session.nodes.has(handle)) session.nodes.set(handle, type)
  return handle
}
const isType = v => v instanceof Y.AbstractType
const embeds = text => text.toDelta().map(part => part.insert).filter(isType)

const find = (session, h) => {
  const [handle, ...path] = Array.isArray(h) ? h : [h]
  let type = session.nodes.get(handle)
  for (const segment of path) {
    if (type === undefined) break
    if (typeof segment === 'number') type = type.get(segment)
    else if (typeof segment === 'string') type = isMap(type) ? type.get(segment) : type.getAttribute(segment)
    else type = embeds(type)[segment.embed]
  }
  if (!isType(type)) throw new Failure('error', `no type at ${JSON.stringify(h)}`)
  return type
}

// ---- operations ---------------------------------------------------------------------------------------------------

const encodeWith = { 1: Y.encodeStateAsUpdate, 2: Y.encodeStateAsUpdateV2 }
const applyWith = { 1: Y.applyUpdate, 2: Y.applyUpdateV2 }
const entriesOf = type => isMap(type)
  ? [...type.entries()]
  : Object.entries(type.getAttributes())
const utf16 = (a, b) => a < b ? -1 : a > b ? 1 : 0
const handles = (session, values) => values.map(v => isType(v) ? remember(session, v) : null)

const shape = type => {
  const out = { kind: kindOf(type), len: isMap(type) ? type.size : type.length }
  if (isText(type)) {
    const parts = type.toDelta().map(part => part.insert)
    out.types = parts.filter(isType).map((_, embed) => ({ embed }))
    out.pieces = parts.map(part => typeof part === 'string' ? part : null)
  } else if (isMap(type)) {
    out.keys = [...type.keys()].sort(utf16)
    out.types = out.keys.filter(key => isType(type.get(key)))
  } else {
    out.types = type.toArray().flatMap((v, i) => isType(v) ? [i] : [])
  }
  return out
}

const documentOps = {
  root: (s, q) => {
    const Class = KINDS.find(([kind]) => kind === q.kind)[1]
    s.nodes.set(`@${q.name}`, s.doc.get(q.name, Class))
    return `@${q.name}`
  },
  apply: (s, q) => {
    try {
      applyWith[q.enc](s.doc, unhex(q.update), q.origin ?? null)
    } catch (error) {
      throw new Failure('decode', error.message)
    }
    return null
  },
  encode: (s, q) => hex(encodeWith[q.enc](s.doc, q.sv == null ? undefined : unhex(q.sv))),
  sv: s => hex(Y.encodeStateVector(s.doc)),
  pending: s => {
    const { pendingStructs, pendingDs } = s.doc.store
    if (pendingStructs === null && pendingDs === null) return null
    return { ...(pendingStructs && { missing: Object.fromEntries(pendingStructs.missing) }), ds: pendingDs !== null }
  },
  undo_new: (s, q) => {
    const um = new Y.UndoManager(q.scope.map(h => find(s, h)), {
      captureTimeout: q.captureTimeout ?? 500,
      ...(q.trackedOrigins !== undefined && { trackedOrigins: new Set(q.trackedOrigins) }),
      ...(q.ignoreRemoteMapChanges === true && { ignoreRemoteMapChanges: true }),
      ...(q.deleteFilter?.length > 0 && {
        deleteFilter: item => !(item.content instanceof Y.ContentType && q.deleteFilter.includes(kindOf(item.content.type)))
      })
    })
    const log = []
    um.on('stack-item-added', event => log.push(`added:${event.type}`))
    um.on('stack-item-popped', event => log.push(`popped:${event.type}`))
    s.managers.set(q.um, { um, log })
    return null
  },
  undo: (s, q) => manager(s, q).um.undo() !== null,
  redo: (s, q) => manager(s, q).um.redo() !== null,
  undo_stop: (s, q) => { manager(s, q).um.stopCapturing(); return null },
  undo_clear: (s, q) => { manager(s, q).um.clear(); return null },
  undo_read: (s, q) => {
    const { um, log } = manager(s, q)
    return { undo: um.undoStack.length, redo: um.redoStack.length, canUndo: um.canUndo(), canRedo: um.canRedo(), events: log }
  },
  snapshot: s => hex(Y.encodeSnapshot(Y.snapshot(s.doc))),
  snapshot_encode: (s, q) => {
    const snapshot = q.snapshot === undefined ? Y.snapshot(s.doc) : Y.decodeSnapshot(unhex(q.snapshot))
    return hex(q.enc === 2 ? Y.encodeSnapshotV2(snapshot) : Y.encodeSnapshot(snapshot))
  },
  log: s => [...s.doc.store.clients.keys()].sort((a, b) => b - a)
    .flatMap(client => s.doc.store.clients.get(client).map(block => blockJson(s, block))),
  transact: (s, q) => s.doc.transact(() => q.ops.map(op => run(s, op)), q.origin ?? null)
}

const blockJson = (session, block) => {
  const id = ({ client, clock }) => [client, clock]
  const out = { id: id(block.id), len: block.length }
  if (!(block instanceof Y.Item)) return { ...out, content: block instanceof Y.GC ? 'gc' : 'skip' }
  out.content = block.content.getRef()
  out.deleted = block.deleted
  if (block.origin !== null) out.origin = id(block.origin)
  if (block.rightOrigin !== null) out.rightOrigin = id(block.rightOrigin)
  if (block.origin === null && block.rightOrigin === null) {
    out.parent = block.parent._item === null ? handleOf(session, block.parent).slice(1) : id(block.parent._item.id)
    if (block.parentSub !== null) out.parentSub = block.parentSub
  }
  if (block.content instanceof Y.ContentString) out.text = block.content.str
  return out
}

const manager = (session, q) => {
  const found = session.managers.get(q.um)
  if (found === undefined) throw new Failure('error', `no undo manager ${q.um}`)
  return found
}

const typeOps = {
  len: (s, q, t) => isMap(t) ? t.size : t.length,
  toJSON: (s, q, t) => write(t.toJSON(), s),
  toString: (s, q, t) => t.toString(),
  toDelta: (s, q, t) => t.toDelta().map(part => ({
    insert: write(part.insert, s),
    ...(part.attributes && { attributes: write(part.attributes, s) })
  })),
  shape: (s, q, t) => shape(t),
  list_insert: (s, q, t) => {
    const values = q.content.map(read)
    t.insert(q.index, values)
    return handles(s, values)
  },
  list_push: (s, q, t) => {
    const values = q.content.map(read)
    t.push(values)
    return handles(s, values)
  },
  list_delete: (s, q, t) => { t.delete(q.index, q.len); return null },
  list_get: (s, q, t) => write(t.get(q.index), s),
  list_values: (s, q, t) => t.toArray().map(v => write(v, s)),
  map_set: (s, q, t) => {
    const value = read(q.value)
    isMap(t) ? t.set(q.key, value) : t.setAttribute(q.key, value)
    return isType(value) ? remember(s, value) : null
  },
  map_get: (s, q, t) => write(isMap(t) ? t.get(q.key) : t.getAttribute(q.key), s),
  map_has: (s, q, t) => isMap(t) ? t.has(q.key) : t.hasAttribute(q.key),
  map_delete: (s, q, t) => { isMap(t) ? t.delete(q.key) : t.removeAttribute(q.key); return null },
  map_clear: (s, q, t) => { t.clear(); return null },
  map_entries: (s, q, t) => entriesOf(t).sort(([a], [b]) => utf16(a, b)).map(([k, v]) => [k, write(v, s)]),
  text_insert: (s, q, t) => { t.insert(q.index, q.text, q.attrs === undefined ? undefined : read(q.attrs)); return null },
  text_embed: (s, q, t) => {
    const value = read(q.value)
    t.insertEmbed(q.index, value, q.attrs === undefined ? undefined : read(q.attrs))
    return isType(value) ? remember(s, value) : null
  },
  snapshot_delta: (s, q, t) => {
    const at = key => q[key] == null ? undefined : Y.decodeSnapshot(unhex(q[key]))
    return t.toDelta(at('snapshot'), at('prev')).map(part => ({
      insert: write(part.insert, s),
      ...(part.attributes && { attributes: write(part.attributes, s) })
    }))
  },
  text_delete: (s, q, t) => { t.delete(q.index, q.len); return null },
  text_format: (s, q, t) => { t.format(q.index, q.len, read(q.attrs)); return null },
  text_delta: (s, q, t) => { t.applyDelta(readDelta(q.delta), q.sanitize === undefined ? undefined : { sanitize: q.sanitize }); return null }
}

const run = (session, q) => {
  if (Object.hasOwn(documentOps, q.op)) return documentOps[q.op](session, q)
  if (!Object.hasOwn(typeOps, q.op)) throw new Failure('unsupported', `${q.op} is not supported`)
  return typeOps[q.op](session, q, find(session, q.h))
}

const decoding = f => {
  try {
    return hex(f())
  } catch (error) {
    throw new Failure('decode', error.message)
  }
}
const freeOps = {
  hello: () => ({ name: 'yjs', version: VERSION, protocol: 1, v2: true }),
  new: q => {
    const doc = new Y.Doc({ gc: q.gc !== false, ...(q.guid !== undefined && { guid: q.guid }) })
    doc.clientID = q.clientID
    const session = { doc, nodes: new Map(), events: [], managers: new Map() }
    const origin = o => typeof o === 'string' ? o : null
    doc.on('update', (update, o) => session.events.push({ t: 'update', v1: hex(update), origin: origin(o), v2: null }))
    doc.on('updateV2', (update, o) => { session.events.find(event => event.v2 === null).v2 = hex(update) })
    const guids = docs => [...docs].map(sub => sub.guid)
    doc.on('subdocs', ({ added, removed, loaded }) => {
      session.events.push({ t: 'subdocs', added: guids(added), removed: guids(removed), loaded: guids(loaded) })
    })
    sessions.set(q.doc, session)
    return null
  },
  free: q => { sessions.get(q.doc)?.doc.destroy(); sessions.delete(q.doc); return null },
  merge: q => decoding(() => (q.enc === 2 ? Y.mergeUpdatesV2 : Y.mergeUpdates)(q.updates.map(unhex))),
  diff: q => decoding(() => (q.enc === 2 ? Y.diffUpdateV2 : Y.diffUpdate)(unhex(q.update), unhex(q.sv))),
  svFromUpdate: q => decoding(() => (q.enc === 2 ? Y.encodeStateVectorFromUpdateV2 : Y.encodeStateVectorFromUpdate)(unhex(q.update))),
  convert: q => decoding(() => (q.to === 2 ? Y.convertUpdateFormatV1ToV2 : Y.convertUpdateFormatV2ToV1)(unhex(q.update))),
  clock: q => { fakeTime = q.ms ?? null; return null },
  batch: q => q.reqs.map(answer)
}

const answer = q => {
  const session = sessions.get(q.doc)
  const events = () => session === undefined ? [] : session.events.splice(0)
  try {
    if (Object.hasOwn(freeOps, q.op)) return { ok: true, r: freeOps[q.op](q, session), ev: [] }
    if (session === undefined) throw new Failure('error', `no document ${q.doc}`)
    const r = run(session, q)
    return { ok: true, r, ev: events() }
  } catch (error) {
    return { ok: false, err: error.message, kind: error.kind ?? 'error', ev: events() }
  }
}

console.log = console.warn = console.error = (...args) => process.stderr.write(args.join(' ') + '\n')
for await (const line of createInterface({ input: process.stdin })) {
  if (line.trim() === '') continue
  const q = JSON.parse(line)
  const a = answer(q)
  process.stdout.write(JSON.stringify(q.id === undefined ? a : { id: q.id, ...a }) + '\n')
}
