// Random scripts of edits, undo, redo, relative positions and snapshots on real Yjs, with what Yjs made of them: the golden
// file of tests/history.rs.
//
//   node interop/history-scripts.mjs [first seed] [scripts] > testdata/history/scripts.json
//
// Two documents A and B (clients 1 and 2) with roots t (text), a (array), m (map). Time is a number of the script. Each
// step says what is done; then come the updates that it caused and the lengths of the stacks of both undo managers.
// lib0 takes Date.now when it is loaded: so time is ours before that.
let now = 1000
Date.now = () => now
const Y = await import('yjs')

const FIRST = Number(process.argv[2] ?? 1)
const COUNT = Number(process.argv[3] ?? 60)

let state = 1
const random = n => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0
  return Math.floor(state / 4294967296 * n)
}
const pick = list => list[random(list.length)]
const hex = bytes => Buffer.from(bytes).toString('hex')

const WORDS = ['a', 'bc', 'def', 'é', '\u{1F600}', 'xy\u{1F388}z', 'hello ']
const FORMATS = [{ b: true }, { i: 1 }, { b: null }, { i: null }, { b: true, i: 2 }]
const KEYS = ['k', 'l', 'n']
const value = depth => {
  const kind = random(depth > 2 ? 4 : 7)
  if (kind < 3) return random(100)
  if (kind === 3) return pick(WORDS)
  if (kind === 4) return { $map: Object.fromEntries([[pick(KEYS), value(depth + 1)]]) }
  if (kind === 5) return { $array: Array.from({ length: random(3) }, () => value(depth + 1)) }
  return { $text: pick(WORDS) }
}
const build = v => {
  if (v === null || typeof v !== 'object') return v
  if (v.$map) return new Y.Map(Object.entries(v.$map).map(([k, x]) => [k, build(x)]))
  if (v.$array) return Y.Array.from(v.$array.map(build))
  return new Y.Text(v.$text)
}
const root = (doc, name) => name === 't' ? doc.getText('t') : name === 'a' ? doc.getArray('a') : doc.getMap('m')
const at = (doc, path) => path.slice(1).reduce((type, step) => type.get(step), root(doc, path[0]))
const paths = doc => {
  const found = []
  const walk = (type, path) => {
    found.push(path)
    if (type instanceof Y.Array) type.toArray().forEach((x, i) => { if (x instanceof Y.AbstractType) walk(x, [...path, i]) })
    if (type instanceof Y.Map) for (const [k, x] of type) if (x instanceof Y.AbstractType) walk(x, [...path, k])
  }
  for (const name of ['t', 'a', 'm']) walk(root(doc, name), [name])
  return found
}

const edit = doc => {
  const path = pick(paths(doc))
  const type = at(doc, path)
  const kind = random(10)
  if (type instanceof Y.Text) {
    const index = random(type.length + 1)
    if (kind < 5 || type.length === 0) {
      const op = { do: 'text.insert', path, index, str: pick(WORDS) }
      if (random(4) === 0) op.attrs = pick([{}, { b: true }, { i: 3 }])
      return op
    }
    if (kind < 8) return { do: 'text.delete', path, index, len: Math.min(1 + random(5), type.length - index) }
    if (kind === 8) return { do: 'text.format', path, index, len: Math.min(1 + random(5), type.length - index), attrs: pick(FORMATS) }
    return { do: 'text.embed', path, index, value: { e: random(9) } }
  }
  if (type instanceof Y.Array) {
    const index = random(type.length + 1)
    if (kind < 6 || type.length === 0) return { do: 'array.insert', path, index, values: Array.from({ length: 1 + random(2) }, () => value(0)) }
    const from = random(type.length)
    return { do: 'array.delete', path, index: from, len: Math.min(1 + random(3), type.length - from) }
  }
  if (kind < 7 || type.size === 0) return { do: 'map.set', path, key: pick(KEYS), value: value(0) }
  return { do: 'map.delete', path, key: pick([...type.keys()]) }
}
const run = (doc, op) => {
  const type = at(doc, op.path)
  switch (op.do) {
    case 'text.insert': return type.insert(op.index, op.str, op.attrs)
    case 'text.delete': return type.delete(op.index, op.len)
    case 'text.format': return type.format(op.index, op.len, op.attrs)
    case 'text.embed': return type.insertEmbed(op.index, op.value)
    case 'array.insert': return type.insert(op.index, op.values.map(build))
    case 'array.delete': return type.delete(op.index, op.len)
    case 'map.set': return type.set(op.key, build(op.value))
    case 'map.delete': return type.delete(op.key)
  }
}

const deltaOf = delta => delta.map(part => ({ ...part, insert: part.insert instanceof Y.AbstractType ? part.insert.toJSON() : part.insert }))
const json = doc => ({ t: deltaOf(root(doc, 't').toDelta()), a: root(doc, 'a').toJSON(), m: root(doc, 'm').toJSON() })

const script = seed => {
  state = seed * 7919
  for (let i = 0; i < 10; i++) random(2)
  now = 1000
  const gc = random(2) === 0
  const docs = {}
  const managers = {}
  const out = { seed, gc, managers: {}, steps: [] }
  let updates = []
  const events = []
  for (const [name, client] of [['A', 1], ['B', 2]]) {
    const doc = new Y.Doc({ gc })
    doc.clientID = client
    docs[name] = doc
    for (const r of ['t', 'a', 'm']) root(doc, r)
    doc.on('update', u => updates.push([name, hex(u)]))
    const scope = pick([['t'], ['a', 'm'], ['t', 'a', 'm'], ['t', 'm'], 'doc'])
    const tracked = random(3) === 0 ? ['me', 'remote'] : null
    const ignoreRemote = random(4) === 0
    const um = new Y.UndoManager(scope === 'doc' ? doc : scope.map(r => root(doc, r)), {
      ...(tracked && { trackedOrigins: new Set(tracked) }), ignoreRemoteMapChanges: ignoreRemote, captureTimeout: 50,
      // With a whole document in scope Yjs captures empty transactions too, even those of looking at a snapshot.
      captureTransaction: tr => tr.deleteSet.clients.size > 0 || [...tr.afterState].some(([client, clock]) => clock !== (tr.beforeState.get(client) ?? 0))
    })
    for (const event of ['added', 'updated', 'popped']) um.on('stack-item-' + event, e => events.push(`${name} ${event}:${e.type}`))
    um.on('stack-cleared', e => events.push(`${name} cleared`))
    managers[name] = um
    out.managers[name] = { scope, tracked, ignoreRemote }
  }
  const rels = []
  const snaps = []
  for (let n = 30 + random(30); n > 0; n--) {
    const name = pick(['A', 'B'])
    const other = name === 'A' ? 'B' : 'A'
    const doc = docs[name]
    const um = managers[name]
    updates = []
    events.length = 0
    now += pick([1, 10, 30, 100])
    const kind = random(20)
    const step = { doc: name, now }
    if (kind < 9) {
      step.do = 'edit'
      step.origin = pick([null, null, 'me', 'x'])
      step.ops = []
      doc.transact(() => {
        for (let i = 1 + random(3); i > 0; i--) {
          // Yjs writes into the attributes that it is given
          const op = edit(doc)
          run(doc, structuredClone(op))
          step.ops.push(op)
        }
      }, step.origin)
    } else if (kind < 11) {
      step.do = 'sync'
      step.origin = pick([null, 'remote', 'other'])
      Y.applyUpdate(doc, Y.encodeStateAsUpdate(docs[other], Y.encodeStateVector(doc)), step.origin)
    } else if (kind < 14) {
      step.do = 'undo'
      step.result = um.undo() !== null
    } else if (kind < 16) {
      step.do = 'redo'
      step.result = um.redo() !== null
    } else if (kind === 16) {
      step.do = pick(['stop', 'stop', 'stop', 'clear', 'clearUndo', 'clearRedo'])
      if (step.do === 'stop') um.stopCapturing()
      else um.clear(step.do !== 'clearRedo', step.do !== 'clearUndo')
    } else if (kind < 19) {
      step.do = 'rel'
      const path = pick(paths(doc).filter(path => !(at(doc, path) instanceof Y.Map)))
      const type = at(doc, path)
      step.path = path
      step.index = random(type.length + 1)
      step.assoc = pick([0, -1])
      const rel = Y.createRelativePositionFromTypeIndex(type, step.index, step.assoc)
      step.hex = hex(Y.encodeRelativePosition(rel))
      rels.push(rel)
      step.resolved = rels.map(rel => ['A', 'B'].map(d => [true, false].map(follow => {
        const abs = Y.createAbsolutePositionFromRelativePosition(rel, docs[d], follow)
        return abs === null ? null : abs.index
      })))
    } else if (!gc) {
      step.do = 'snap'
      const snap = Y.snapshot(doc)
      step.hex = hex(Y.encodeSnapshot(snap))
      snaps.push([name, snap])
      const hi = pick([undefined, ...snaps.filter(s => s[0] === name).map(s => s[1])])
      const lo = pick([undefined, ...snaps.filter(s => s[0] === name).map(s => s[1])])
      step.hi = hi ? hex(Y.encodeSnapshot(hi)) : null
      step.lo = lo ? hex(Y.encodeSnapshot(lo)) : null
      step.delta = deltaOf(root(doc, 't').toDelta(hi, lo, (type, id) => ({ type, client: id.client, clock: id.clock })))
      const old = pick(snaps.filter(s => s[0] === name))[1]
      step.old = hex(Y.encodeSnapshot(old))
      const copy = Y.createDocFromSnapshot(doc, old)
      step.restored = { json: json(copy), update: hex(Y.encodeStateAsUpdate(copy)) }
      step.map = Object.fromEntries(Object.entries(Y.typeMapGetAllSnapshot(root(doc, 'm'), old)).map(([k, v]) => [k, v instanceof Y.AbstractType ? '$type' : v]))
      const update = Y.encodeStateAsUpdate(docs[other])
      step.update = hex(update)
      step.contains = Y.snapshotContainsUpdate(old, update)
    } else continue
    step.updates = updates
    step.events = [...events]
    step.stacks = ['A', 'B'].map(d => [managers[d].undoStack.length, managers[d].redoStack.length])
    out.steps.push(step)
  }
  out.final = Object.fromEntries(['A', 'B'].map(d => [d, { json: json(docs[d]), update: hex(Y.encodeStateAsUpdate(docs[d])) }]))
  return out
}

const scripts = []
for (let seed = FIRST; seed < FIRST + COUNT; seed++) {
  try {
    scripts.push(script(seed))
  } catch (error) {
    // Yjs gives up where a copy was collected (it reads the parent of a GC).
    console.error(`seed ${seed}: ${error.message}`)
  }
}
console.log('[' + scripts.map(s => JSON.stringify(s)).join(',\n') + ']')
