// Writes testdata/vectors/update-inspect.json: what real Yjs makes of updates with obfuscateUpdate, parseUpdateMeta and
// decodeUpdate.
// Run: node interop/inspect-vectors.mjs (deterministic; needs interop/setup.sh).
import * as Y from 'yjs'
import { readFileSync, writeFileSync } from 'node:fs'

const folder = new URL('../testdata/vectors/', import.meta.url)
const read = name => JSON.parse(readFileSync(new URL(name, folder), 'utf8'))
const hex = bytes => Buffer.from(bytes).toString('hex')
const bytes = text => new Uint8Array(Buffer.from(text, 'hex'))

// Updates as pairs of both formats.
const inputs = []
for (const vector of read('yjs-vectors.json').vectors) {
  if (vector.kind === 'update') inputs.push([vector.name, bytes(vector.v1), bytes(vector.v2)])
}
for (const [n, one] of read('update-tools.json').cases.entries()) {
  inputs.push([`merged ${n}`, bytes(one.merged), bytes(one.mergedV2)])
}

const made = (name, change) => {
  const doc = new Y.Doc({ gc: false, guid: name })
  doc.clientID = 77
  change(doc)
  inputs.push([name, Y.encodeStateAsUpdate(doc), Y.encodeStateAsUpdateV2(doc)])
}

made('formats of equal and unequal values', doc => {
  const text = doc.getText('t')
  text.insert(0, 'abcdefghijklmnopqrstuvwxyz')
  const values = [1, 1.5, -0, 0, true, 'x', 'x', { a: 1 }, { a: 1 }, [1], [1], null, '', false, true, NaN, 2 ** 31]
  values.forEach((value, n) => text.format(n, 1, { [n % 2 ? 'odd' : 'even']: value }))
  text.format(20, 3, { even: 1, odd: 'x', other: {} })
})
made('keys, the empty key, many items', doc => {
  const map = doc.getMap('m')
  const list = doc.getArray('l')
  for (let n = 0; n < 300; n++) {
    map.set(`k${n % 7}`, n)
    if (n % 50 === 0) map.set('', n)
    if (n % 3 === 0) list.insert(0, [n, `${n}`, { n }])
    if (n % 100 === 0) list.insert(0, [new Uint8Array([1, 2, 3])])
  }
})
made('xml elements and hooks of the same names', doc => {
  const root = doc.getXmlFragment('x')
  const element = name => {
    const it = new Y.XmlElement(name)
    it.setAttribute('class', name)
    return it
  }
  root.insert(0, [element('p'), new Y.XmlHook('p'), new Y.XmlHook('widget'), element('widget'), element('p')])
  root.get(0).insert(0, [new Y.XmlText('hello \u{1F600}')])
})
made('sub-documents, embeds, bytes', doc => {
  const map = doc.getMap('m')
  map.set('plain', new Y.Doc({ guid: 'one' }))
  map.set('more', new Y.Doc({ guid: 'two', autoLoad: true, meta: { a: 1 }, gc: false }))
  const text = doc.getText('t')
  text.insertEmbed(0, { image: 'x.png' })
  text.insert(1, 'a\u{1F600}b\u{1F600}')
  text.delete(3, 3)
})

const off = { formatting: false, subdocs: false, yxml: false }
const meta = ({ from, to }) => ({ from: [...from], to: [...to] })
// A block of decodeUpdate in one line.
const id = it => it === null || it === undefined ? '-' : `${it.client}:${it.clock}`
const parent = it => it === null ? '-' : typeof it === 'string' ? `root ${it}` : id(it)
const block = it => {
  const head = `${id(it.id)}+${it.length} ${it.constructor.name}`
  return it instanceof Y.Item
    ? `${head} ${it.content.constructor.name} ${id(it.origin)} ${id(it.rightOrigin)} ${parent(it.parent)} ${it.parentSub}`
    : head
}
const decoded = ({ structs, ds }) => ({
  structs: structs.map(block),
  ds: [...ds.clients].map(([client, ranges]) => [client, ranges.map(range => [range.clock, range.len])])
})
const cases = inputs.map(([name, v1, v2]) => ({
  name,
  v1: hex(v1),
  v2: hex(v2),
  obfuscatedV1: hex(Y.obfuscateUpdate(v1)),
  obfuscatedV2: hex(Y.obfuscateUpdateV2(v2)),
  keptV1: hex(Y.obfuscateUpdate(v1, off)),
  keptV2: hex(Y.obfuscateUpdateV2(v2, off)),
  meta: meta(Y.parseUpdateMeta(v1)),
  metaV2: meta(Y.parseUpdateMetaV2(v2)),
  decoded: decoded(Y.decodeUpdate(v1)),
  decodedV2: decoded(Y.decodeUpdateV2(v2))
}))
const lines = cases.map(one => JSON.stringify(one)).join(',\n')
writeFileSync(new URL('update-inspect.json', folder), `{"generator":"yjs 13.6.33, interop/inspect-vectors.mjs","cases":[\n${lines}\n]}\n`)
console.log(`${cases.length} cases`)
