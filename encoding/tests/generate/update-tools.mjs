// Makes testdata/vectors/update-tools.json with real Yjs: what its tools make of random updates.
// Run: npm i yjs@13.6.33 && node update-tools.mjs ../../../testdata/vectors
import fs from 'node:fs'
import * as Y from 'yjs'

const dir = process.argv[2]
const hex = bytes => Buffer.from(bytes).toString('hex')
const bytes = text => new Uint8Array(Buffer.from(text, 'hex'))
let seed = 1
const random = n => {
  seed = (Math.imul(seed, 1103515245) + 12345) >>> 0
  return Math.floor((seed / 2 ** 32) * n)
}
const pick = list => list[random(list.length)]

const values = [1, -5, 1.5, 'text', true, null, [undefined], [12345678901n], { big: [5n] }, -0, 1e21,
  { a: 1, 5: [2], b: undefined }, [[], {}], new Uint8Array([1, 2, 3])]
const edit = doc => {
  const text = doc.getText('text'); const map = doc.getMap('map'); const array = doc.getArray('array')
  const xml = doc.getXmlFragment('xml')
  switch (random(10)) {
    case 0: case 1: return text.insert(random(text.length + 1), pick(['a', 'bc', 'é€', '\u{1F600}x', 'hello world']))
    case 2: if (text.length > 0) { const at = random(text.length); text.delete(at, 1 + random(Math.min(3, text.length - at))) } return
    case 3: return map.set(pick(['k', 'key2']), pick(values))
    case 4: return map.delete('k')
    case 5: return array.insert(random(array.length + 1), [pick(values), pick(values)])
    case 6: if (array.length > 0) array.delete(random(array.length), 1); return
    case 7: if (text.length > 1) text.format(random(text.length - 1), 1, { [pick(['bold', 'em'])]: pick([true, null, { n: 1 }]) }); return
    case 8: return array.insert(0, [pick([() => new Y.Map([['x', 1]]), () => new Y.Text('nested'), () => new Y.Array()])()])
    case 9: return xml.insert(0, [pick([() => new Y.XmlElement('p'), () => new Y.XmlText('t'), () => new Y.XmlHook('h')])()])
  }
}

const cases = []
for (let n = 0; n < 120; n++) {
  const docs = [1, 20, 300].slice(0, 1 + random(3)).map(id => {
    const doc = new Y.Doc({ gc: random(4) > 0 })
    doc.clientID = id
    return doc
  })
  const log = []
  docs.forEach(doc => doc.on('update', update => log.push(update)))
  const inputs = []
  const states = [new Uint8Array([0])]
  for (let i = 0; i < 12; i++) {
    edit(pick(docs))
    if (random(4) === 0) Y.applyUpdate(pick(docs), Y.encodeStateAsUpdate(pick(docs)))
    if (random(5) === 0) inputs.push(Y.encodeStateAsUpdate(pick(docs)))
    if (random(5) === 0) states.push(Y.encodeStateVector(pick(docs)))
  }
  // Some edits are lost, some come twice, in any order.
  for (const update of log) if (random(5) > 0) inputs.push(update)
  inputs.sort(() => random(3) - 1)
  if (inputs.length === 0) continue
  const inputsV2 = inputs.map(u => Y.convertUpdateFormatV1ToV2(u))
  const merged = Y.mergeUpdates(inputs)
  const mergedV2 = Y.mergeUpdatesV2(inputsV2)
  const state = pick(states)
  cases.push({
    inputs: inputs.map(hex),
    inputsV2: inputsV2.map(hex),
    merged: hex(merged),
    mergedV2: hex(mergedV2),
    pair: hex(Y.mergeUpdates([inputs[0], inputs[inputs.length - 1]])),
    mergedAsV1: hex(Y.convertUpdateFormatV2ToV1(mergedV2)),
    mergedAsV2: hex(Y.convertUpdateFormatV1ToV2(merged)),
    state: hex(state),
    diff: hex(Y.diffUpdate(merged, state)),
    diffV2: hex(Y.diffUpdateV2(mergedV2, state)),
    stateOfMerged: hex(Y.encodeStateVectorFromUpdate(merged)),
    stateOfMergedV2: hex(Y.encodeStateVectorFromUpdateV2(mergedV2)),
    statesOfInputs: inputs.map(u => hex(Y.encodeStateVectorFromUpdate(u)))
  })
}
const vectors = JSON.parse(fs.readFileSync(`${dir}/yjs-vectors.json`, 'utf8')).vectors
const converted = vectors.filter(v => v.kind === 'update').map(v => ({
  name: v.name,
  v1ToV2: hex(Y.convertUpdateFormatV1ToV2(bytes(v.v1))),
  v2ToV1: hex(Y.convertUpdateFormatV2ToV1(bytes(v.v2)))
}))
const out = { generator: 'encoding/tests/generate/update-tools.mjs, yjs 13.6.33', cases, converted }
fs.writeFileSync(`${dir}/update-tools.json`, JSON.stringify(out))
console.log(cases.length, converted.length)
