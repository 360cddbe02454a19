// Writes testdata/user-data.json: a document in which Yjs's PermanentUserData recorded who wrote and deleted what.
import * as Y from 'yjs'
import { writeFileSync } from 'node:fs'

const later = () => new Promise(resolve => setTimeout(resolve, 5))
const hex = bytes => Buffer.from(bytes).toString('hex')

const doc = new Y.Doc()
doc.clientID = 3000000001
const data = new Y.PermanentUserData(doc)
doc.transact(() => data.setUserMapping(doc, doc.clientID, 'ann'))
await later()
const text = doc.getText('text')
text.insert(0, 'hello world')
await later()
text.delete(0, 3)
await later()
text.delete(2, 4)
await later()

const other = new Y.Doc()
other.clientID = 7
Y.applyUpdate(other, Y.encodeStateAsUpdate(doc))
const otherData = new Y.PermanentUserData(other)
other.transact(() => otherData.setUserMapping(other, other.clientID, 'bob'))
await later()
other.getText('text').delete(0, 1)
await later()

const state = Y.encodeStateAsUpdate(other)
const reader = new Y.PermanentUserData(other)
const clients = Object.fromEntries([3000000001, 7, 8].map(client => [client, reader.getUserByClientId(client)]))
const deleted = Array.from({ length: 11 }, (_, clock) => {
  // The text comes after what the mapping wrote.
  const first = textStart(doc)
  const id = Y.createID(3000000001, first + clock)
  return { client: id.client, clock: id.clock, user: reader.getUserByDeletedId(id) }
})

function textStart (doc) {
  return doc.getText('text')._start.id.clock
}

writeFileSync(
  new URL('../testdata/user-data.json', import.meta.url),
  JSON.stringify({ first: hex(Y.encodeStateAsUpdate(doc)), state: hex(state), clients, deleted }, null, 1) + '\n'
)
