// Writes what the tests of `yatta import` read, by the packages that people come from: node make.mjs
// Made with y-leveldb 0.2.0, @hocuspocus/server and extension-sqlite 4.7 (npm i y-leveldb yjs @hocuspocus/server
// @hocuspocus/extension-sqlite); the results are kept, as one of them compiles C++ when it is installed.
import fs from 'node:fs'
import * as Y from 'yjs'
import { LeveldbPersistence } from 'y-leveldb'
import { Hocuspocus } from '@hocuspocus/server'
import { SQLite } from '@hocuspocus/extension-sqlite'

for (const old of ['y-leveldb', 'hocuspocus.sqlite']) fs.rmSync(old, { recursive: true, force: true })

const edits = (doc, count, each) => {
  const updates = []
  doc.on('update', update => updates.push(update))
  for (let i = 0; i < count; i++) each(doc, i)
  return updates
}

// y-leveldb: a document that was trimmed, one in many updates, one whose second update is missing; opened twice, so that
// both kinds of LevelDB's files hold something.
let level = new LeveldbPersistence('y-leveldb')
for (const update of edits(new Y.Doc(), 600, (doc, i) => doc.getText('text').insert(0, `${i} `))) await level.storeUpdate('long', update)
await level.setMeta('long', 'a key', { not: 'an update' })
await level.destroy()
level = new LeveldbPersistence('y-leveldb')
for (const update of edits(new Y.Doc(), 3, (doc, i) => doc.getMap('map').set(`key ${i}`, 'é'.repeat(i + 1)))) await level.storeUpdate('team/two é', update)
const gap = edits(new Y.Doc(), 3, (doc, i) => doc.getText('text').insert(i, 'abc'[i]))
await level.storeUpdate('gap', gap[0])
await level.storeUpdate('gap', gap[2])
await level.destroy()

const hocuspocus = new Hocuspocus({ quiet: true, debounce: 0, extensions: [new SQLite({ database: 'hocuspocus.sqlite' })] })
await hocuspocus.hooks('onConfigure', { instance: hocuspocus, configuration: hocuspocus.configuration })
await hocuspocus.hooks('onListen', { instance: hocuspocus, configuration: hocuspocus.configuration, port: 0 })
for (const [name, text] of [['one', 'hello from hocuspocus'], ['team/two é', 'zwei '.repeat(2000)]]) {
  const connection = await hocuspocus.openDirectConnection(name, {})
  await connection.transact(doc => doc.getText('text').insert(0, text))
  await connection.disconnect()
}
await new Promise(resolve => setTimeout(resolve, 500))
process.exit(0)
