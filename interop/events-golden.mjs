// Writes random scripts with the events that real Yjs fires, one JSON object a line: input of tests/events.rs.
//
//   node interop/events-golden.mjs FIRST_SEED COUNT > testdata/events/scripts.jsonl
//
// Two replicas: the events are those of the first. Its own edits are written down as operations, those of the second as
// updates. Reading the delta of a text deletes needless marks in Yjs; here such a deletion is taken back at once, so that
// observing does not change the document.
import * as Y from 'yjs'

const [first, count] = process.argv.slice(2).map(Number)

let state = 0
const below = n => { // mulberry32
  state = (state + 0x6D2B79F5) | 0
  let t = Math.imul(state ^ (state >>> 15), 1 | state)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return Math.floor(((t ^ (t >>> 14)) >>> 0) / 4294967296 * n)
}
const pick = list => list[below(list.length)]
const hex = bytes => Buffer.from(bytes).toString('hex')

let captured = null
const deleteItem = Y.Item.prototype.delete
Y.Item.prototype.delete = function (transaction) {
  if (captured === null) return deleteItem.call(this, transaction)
  this.markDeleted()
  captured.push(this)
}
const deltaOf = event => {
  captured = []
  try {
    return event.delta
  } finally {
    for (const item of captured) item.deleted = false
    captured = null
  }
}

const KINDS = [['xmltext', Y.XmlText], ['xmlelement', Y.XmlElement], ['xmlfragment', Y.XmlFragment], ['text', Y.Text], ['array', Y.Array], ['map', Y.Map]]
const kindOf = type => KINDS.find(([, Class]) => type instanceof Class)[0]
const isType = v => v instanceof Y.AbstractType
const value = v => v === undefined ? { $: 'undefined' } : isType(v) ? { $: kindOf(v) } : Array.isArray(v) ? v.map(value) : v

const ATTRIBUTES = [{ b: true }, { b: null }, { i: 1 }, { i: 2 }, { i: null }, { b: true, i: 1 }, { b: null, i: null }, { c: 'x' }, { c: null }]
const WORDS = ['a', 'bc', 'def', 'é', '漢字', '👾', 'x👾y', 'word ', '\n']
const KEYS = ['k', 'l', 'm']
const atom = () => pick([1, 2, 'v', true, null, 3.5, [1, 2], { o: 1 }])

/** A place in a text that does not cut a surrogate pair. */
const place = (text, from, to) => {
  const string = text.toDelta().map(part => typeof part.insert === 'string' ? part.insert : '.').join('')
  let at = from + below(to - from + 1)
  if (at > 0 && at < string.length && (string.charCodeAt(at) & 0xFC00) === 0xDC00) at -= 1
  return at
}

/** A random operation on a type and its path, as data. */
const draw = (type, path, depth) => {
  if (depth < 2 && below(3) === 0) {
    const kids = []
    if (type instanceof Y.Map) type.forEach((kid, key) => { if (isType(kid)) kids.push([kid, key]) })
    else if (type instanceof Y.Text) { /* types in texts are embeds: not entered */ } else if (type instanceof Y.XmlFragment || type instanceof Y.Array) type.toArray().forEach((kid, index) => { if (isType(kid)) kids.push([kid, index]) })
    if (kids.length > 0) {
      const [kid, step] = pick(kids)
      return draw(kid, [...path, step], depth + 1)
    }
  }
  const at = { path }
  if (type instanceof Y.Text) {
    const len = type.length
    const from = place(type, 0, len)
    const to = place(type, from, Math.min(len, from + 1 + below(12)))
    const key = below(8)
    if (type instanceof Y.XmlText && below(4) === 0) return below(3) ? { ...at, op: 'attr', key: pick(KEYS), value: pick(['1', '2']) } : { ...at, op: 'unattr', key: pick(KEYS) }
    if (key < 3 || len === 0) return { ...at, op: 'insert', index: from, text: pick(WORDS), ...(below(3) === 0 && { attrs: pick(ATTRIBUTES) }) }
    if (key < 4) return { ...at, op: 'embed', index: from, value: { image: below(3) }, ...(below(2) && { attrs: pick(ATTRIBUTES) }) }
    if (key < 6) return { ...at, op: 'delete', index: from, len: to - from }
    return { ...at, op: 'format', index: from, len: to - from, attrs: pick(ATTRIBUTES) }
  }
  if (type instanceof Y.Map) {
    if (below(4) === 0) return { ...at, op: 'remove', key: pick(KEYS) }
    return { ...at, op: 'set', key: pick(KEYS), ...(below(4) === 0 ? { type: pick(['text', 'array', 'map']) } : { value: atom() }) }
  }
  const len = type.length
  if (type instanceof Y.XmlFragment) {
    if (type instanceof Y.XmlElement && below(3) === 0) return below(3) ? { ...at, op: 'attr', key: pick(KEYS), value: pick(['1', '2']) } : { ...at, op: 'unattr', key: pick(KEYS) }
    if (len > 0 && below(3) === 0) { const index = below(len); return { ...at, op: 'erase', index, len: 1 + below(Math.min(3, len - index)) } }
    return { ...at, op: 'add', index: below(len + 1), type: pick(['xmltext', 'xmlelement']) }
  }
  if (len > 0 && below(3) === 0) { const index = below(len); return { ...at, op: 'erase', index, len: 1 + below(Math.min(4, len - index)) } }
  if (below(4) === 0) return { ...at, op: 'add', index: below(len + 1), type: pick(['text', 'array', 'map']) }
  return { ...at, op: 'add', index: below(len + 1), values: Array.from({ length: 1 + below(3) }, atom) }
}

const make = kind => kind === 'xmlelement' ? new Y.XmlElement('p') : new (KINDS.find(([name]) => name === kind)[1])()
const apply = (doc, roots, operation) => {
  const q = structuredClone(operation) // Yjs writes into the attributes that it is given
  let type = roots[q.path[0]]
  for (const step of q.path.slice(1)) type = type.get(step)
  switch (q.op) {
    case 'insert': return type.insert(q.index, q.text, q.attrs)
    case 'embed': return type.insertEmbed(q.index, q.value, q.attrs ?? {})
    case 'delete': return type.delete(q.index, q.len)
    case 'format': return type.format(q.index, q.len, q.attrs)
    case 'remove': return type.delete(q.key)
    case 'set': return type.set(q.key, q.type ? make(q.type) : q.value)
    case 'erase': return type.delete(q.index, q.len)
    case 'attr': return type.setAttribute(q.key, q.value)
    case 'unattr': return type.removeAttribute(q.key)
    case 'add': return type.insert(q.index, q.type ? [make(q.type)] : q.values)
    default: throw new Error(q.op)
  }
}

const replica = client => {
  const doc = new Y.Doc()
  doc.clientID = client
  const roots = { t: doc.getText('t'), a: doc.getArray('a'), m: doc.getMap('m'), x: doc.getXmlFragment('x') }
  return { doc, roots }
}
const step = (r, n, weight) => {
  const ops = []
  r.doc.transact(() => {
    for (let i = 0; i < n; i++) {
      const root = pick(weight)
      const q = draw(r.roots[root], [root], 0)
      ops.push(q)
      apply(r.doc, r.roots, q)
    }
  })
  return ops
}

const report = event => {
  const out = { kind: kindOf(event.target), path: event.path }
  if (event.target instanceof Y.Text || !(event.target instanceof Y.Map)) out.delta = deltaOf(event).map(part => ({ ...part, ...('insert' in part && { insert: value(part.insert) }) }))
  if (event.target instanceof Y.Map || event.target instanceof Y.XmlElement || event.target instanceof Y.XmlText) out.keys = Object.fromEntries([...event.keys].map(([k, c]) => [k, { action: c.action, oldValue: value(c.oldValue) }]))
  return out
}

for (let seed = first; seed < first + count; seed++) {
  state = seed * 7919
  const a = replica(1)
  const b = replica(seed % 2 === 0 ? 2 : 0)
  const weights = [['t'], ['a'], ['m'], ['x'], ['t', 't', 'a', 'm', 'x']]
  const weight = weights[seed % weights.length]
  const big = seed % 3 !== 0
  // Both fill the document before anybody looks.
  for (let i = 0; i < (big ? 120 : 4); i++) step(pick([a, b]), 1, weight)
  Y.applyUpdate(a.doc, Y.encodeStateAsUpdate(b.doc))
  Y.applyUpdate(b.doc, Y.encodeStateAsUpdate(a.doc))
  // A fresh first replica, so that the reader need not replay that.
  const start = Y.encodeStateAsUpdate(a.doc)
  const r = replica(3)
  Y.applyUpdate(r.doc, start)
  let calls = []
  for (const name of Object.keys(r.roots)) {
    r.roots[name].observe(event => calls.push({ on: name, deep: false, events: [report(event)] }))
    r.roots[name].observeDeep(events => calls.push({ on: name, deep: true, events: events.map(report) }))
  }
  const steps = []
  for (let i = 0; i < 14; i++) {
    calls = []
    if (below(3) > 0) {
      const ops = step(r, 1 + below(5), weight)
      steps.push({ ops, calls })
    } else {
      if (below(2)) Y.applyUpdate(b.doc, Y.encodeStateAsUpdate(r.doc, Y.encodeStateVector(b.doc)))
      const n = 1 + below(4)
      for (let k = 0; k < n; k++) step(b, 1 + below(3), weight)
      const update = Y.encodeStateAsUpdate(b.doc, Y.encodeStateVector(r.doc))
      calls = []
      Y.applyUpdate(r.doc, update)
      steps.push({ update: hex(update), calls })
    }
  }
  console.log(JSON.stringify({ seed, start: hex(start), steps, end: hex(Y.encodeStateAsUpdate(r.doc)) }))
}
