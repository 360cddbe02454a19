// Random scripts of XML edits on real Yjs, with what Yjs made of them: the golden file of tests/xml.rs.
//
//   node interop/xml-scripts.mjs > testdata/xml/scripts.json
//
// Two documents (clients 1 and 2) with a root fragment `x` and a root element `e`. Each step says what is done in one
// transaction, and then the updates that came of it, both roots as text, and at the end what walks over the tree see.
import * as Y from 'yjs'

let state = 42
const random = n => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0
  return Math.floor(state / 4294967296 * n)
}
const pick = list => list[random(list.length)]
const hex = bytes => Buffer.from(bytes).toString('hex')

const NAMES = ['p', 'DIV', 'Item', 'Straße', 'b']
const KEYS = ['id', 'class', 'B', 'a', 'ä', '\u{1F600}', '\uE000']
const VALUES = ['v', '', 'a"<b', 7, -1.5, 0, true, false, null, [1, null, ['x', 2]], { k: 1 }, 1e21, 0.1, 'ü\u{1F600}']
const WORDS = ['hi', ' there', 'ünï', '\u{1F600}', 'x', '<&>']
const FORMATS = [{ b: true }, { b: { x: '1', A: 2 } }, { i: 'str' }, { b: null }, { i: null, c: [1, 2] }, { z: 3, a: {} }]

const spec = depth => {
  const kind = random(depth > 2 ? 3 : 6)
  if (kind === 0) return { text: pick(WORDS) }
  if (kind === 1) return { delta: [{ insert: pick(WORDS), attributes: pick(FORMATS) }, { insert: pick(WORDS) }], attrs: { [pick(KEYS)]: pick(WORDS) } }
  if (kind === 2) return { el: pick(NAMES), attrs: {}, children: [] }
  const children = Array.from({ length: random(3) }, () => spec(depth + 1))
  if (kind === 3) return { frag: children }
  const attrs = {}
  for (let i = random(3); i > 0; i--) attrs[pick(KEYS)] = pick(WORDS)
  return { el: pick(NAMES), attrs, children }
}

const build = s => {
  if (s.text !== undefined) return new Y.XmlText(s.text)
  if (s.delta !== undefined) {
    const text = new Y.XmlText()
    text.applyDelta(s.delta)
    for (const key in s.attrs) text.setAttribute(key, s.attrs[key])
    return text
  }
  const node = s.frag !== undefined ? new Y.XmlFragment() : new Y.XmlElement(s.el)
  node.insert(0, (s.frag ?? s.children).map(build))
  if (s.el !== undefined) for (const key in s.attrs) node.setAttribute(key, s.attrs[key])
  return node
}

const roots = doc => ({ x: doc.getXmlFragment('x'), e: doc.get('e', Y.XmlElement) })
const at = (doc, path) => path.reduce((node, step) => typeof step === 'string' ? roots(doc)[step] : node.get(step), null)

const paths = (doc, accept) => {
  const found = []
  const walk = (node, path) => {
    if (accept(node)) found.push(path)
    if (node instanceof Y.XmlFragment) node.toArray().forEach((child, i) => walk(child, [...path, i]))
  }
  for (const [name, root] of Object.entries(roots(doc))) walk(root, [name])
  return found
}
const isList = node => node instanceof Y.XmlFragment
const isText = node => node instanceof Y.XmlText
const hasAttributes = node => isText(node) || node instanceof Y.XmlElement

const choose = doc => {
  const lists = paths(doc, isList)
  const texts = paths(doc, node => isText(node) && node.length > 0)
  const kind = random(12)
  if (kind < 4) {
    const path = pick(lists)
    return { op: 'insert', path, index: random(at(doc, path).length + 1), nodes: Array.from({ length: 1 + random(2) }, () => spec(1)) }
  }
  if (kind === 4) {
    const full = paths(doc, node => isList(node) && node.length > 0)
    if (full.length === 0) return null
    const path = pick(full)
    const index = random(at(doc, path).length)
    return { op: 'delete', path, index, len: 1 + random(Math.min(2, at(doc, path).length - index)) }
  }
  if (kind === 5) {
    const path = pick(lists)
    const length = at(doc, path).length
    return { op: 'after', path, reference: length === 0 || random(3) === 0 ? null : random(length), node: spec(2) }
  }
  if (kind < 8) {
    const path = pick(paths(doc, hasAttributes))
    const keys = Object.keys(at(doc, path).getAttributes())
    if (random(4) === 0 && keys.length > 0) return { op: 'unset', path, key: pick(keys) }
    return random(6) === 0
      ? { op: 'setNode', path, key: pick(KEYS), node: spec(2) }
      : { op: 'set', path, key: pick(KEYS), value: pick(VALUES) }
  }
  if (texts.length === 0) return null
  const path = pick(texts)
  const length = at(doc, path).length
  const index = random(length + 1)
  switch (random(5)) {
    case 0: return { op: 'write', path, index, text: pick(WORDS) }
    case 1: return { op: 'write', path, index, text: pick(WORDS), attributes: pick(FORMATS) }
    case 2: return { op: 'embed', path, index, value: { img: 1 } }
    case 3: return { op: 'embedNode', path, index, node: { el: pick(NAMES), attrs: {}, children: [{ text: pick(WORDS) }] } }
    default: {
      const from = random(length)
      const len = 1 + random(length - from)
      return random(2) === 0
        ? { op: 'cut', path, index: from, len }
        : { op: 'format', path, index: from, len, attributes: pick(FORMATS) }
    }
  }
}

const run = (doc, step) => {
  const node = at(doc, step.path)
  switch (step.op) {
    case 'insert': return node.insert(step.index, step.nodes.map(build))
    case 'delete': return node.delete(step.index, step.len)
    case 'after': return node.insertAfter(step.reference === null ? null : node.get(step.reference), [build(step.node)])
    case 'set': return node.setAttribute(step.key, step.value)
    case 'setNode': return node.setAttribute(step.key, build(step.node))
    case 'unset': return node.removeAttribute(step.key)
    case 'write': return node.insert(step.index, step.text, step.attributes)
    case 'embed': return node.insertEmbed(step.index, step.value)
    case 'embedNode': return node.insertEmbed(step.index, build(step.node))
    case 'cut': return node.delete(step.index, step.len)
    case 'format': return node.format(step.index, step.len, step.attributes)
  }
}

const label = node => isText(node) ? '#text' : node.nodeName ?? '#fragment'
const walks = doc => {
  const fragment = roots(doc).x
  const siblings = []
  for (let node = fragment.firstChild; node !== null && node !== undefined; node = node.nextSibling) {
    siblings.push(label(node))
    if (!(node instanceof Y.XmlElement || isText(node))) break // a fragment has no siblings in Yjs
  }
  return {
    tree: [...fragment.createTreeWalker(() => true)].map(label),
    query: fragment.querySelectorAll('div').length,
    siblings
  }
}

const script = () => {
  const docs = [1, 2].map(client => {
    const doc = new Y.Doc({ guid: `d${client}` })
    doc.clientID = client
    const session = { doc, v1: [], v2: [], since: null }
    roots(doc)
    doc.on('update', update => session.v1.push(hex(update)))
    doc.on('updateV2', update => session.v2.push(hex(update)))
    return session
  })
  const steps = []
  for (let i = 4 + random(16); i > 0; i--) {
    const which = random(2)
    const session = docs[which]
    session.v1 = []
    session.v2 = []
    let step
    if (random(5) === 0) {
      const other = docs[1 - which].doc
      step = { op: 'sync' }
      Y.applyUpdate(session.doc, Y.encodeStateAsUpdate(other, Y.encodeStateVector(session.doc)))
    } else {
      step = choose(session.doc)
      if (step === null) continue
      session.doc.transact(() => run(session.doc, step))
    }
    const { x, e } = roots(session.doc)
    steps.push({ doc: which, ...step, v1: session.v1, v2: session.v2, x: x.toString(), e: e.toString() })
  }
  return { steps, end: docs.map(session => ({ v1: hex(Y.encodeStateAsUpdate(session.doc)), v2: hex(Y.encodeStateAsUpdateV2(session.doc)), ...walks(session.doc) })) }
}

// Objects as lists of entries and values as JSON text, so that the order of keys survives any JSON parser.
const ordered = (key, value) => {
  if (key === 'attrs') return Object.entries(value)
  if (key === 'attributes') return Object.entries(value).map(([name, v]) => [name, JSON.stringify(v)])
  return key === 'value' ? JSON.stringify(value) : value
}

console.log('[')
for (let i = 0; i < 120; i++) console.log((i > 0 ? ',' : '') + JSON.stringify(script(), ordered))
console.log(']')
