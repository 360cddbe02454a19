// Real clients against a running server: node clients.mjs SCENARIO ws://127.0.0.1:PORT [ARGUMENT]
// Each scenario ends by itself; a failed expectation ends the process with 1 and says which.
import assert from 'node:assert/strict'
import * as Y from 'yjs'
import { readVarUint8Array } from 'lib0/decoding'
import WebSocket from 'ws'
import { WebsocketProvider as Provider3 } from 'y-websocket'
import { WebsocketProvider as Provider2 } from 'y-websocket2'
import { HocuspocusProvider, HocuspocusProviderWebsocket } from '@hocuspocus/provider'

const [, , scenario, url, argument] = process.argv
const PATIENCE = Number(process.env.PATIENCE ?? 20_000)

const until = async (what, is, patience = PATIENCE) => {
  const end = Date.now() + patience
  while (!is()) {
    assert(Date.now() < end, `in time: ${what}`)
    await new Promise(resolve => setTimeout(resolve, 5))
  }
}

const opened = []

const yws = (Provider, room, doc = new Y.Doc(), options = {}) => {
  const provider = new Provider(url, room, doc, { WebSocketPolyfill: WebSocket, disableBc: true, ...options })
  opened.push(provider)
  return provider
}

const hocus = (name, doc = new Y.Doc(), options = {}) => {
  const socket = options.websocketProvider ?? new HocuspocusProviderWebsocket({ url, WebSocketPolyfill: WebSocket })
  const provider = new HocuspocusProvider({ name, document: doc, websocketProvider: socket, ...options })
  provider.attach()
  opened.push(provider)
  if (!options.websocketProvider) opened.push(socket)
  return provider
}

const text = doc => doc.getText('text')
const append = (doc, what) => text(doc).insert(text(doc).length, what)
const same = docs => docs.every(doc => text(doc).toString() === text(docs[0]).toString())

// As in docs/SERVER.md.
const storedBy = provider => {
  const waiting = []
  let last = 0
  provider.messageHandlers[8] = (_encoder, decoder) => {
    const [number, kept] = readVarUint8Array(decoder)
    waiting[number]?.(kept === 1)
  }
  return () => new Promise(resolve => {
    last = (last + 1) % 128
    waiting[last] = resolve
    provider.ws.send(Uint8Array.of(8, 1, last))
  })
}

const scenarios = {
  // Both providers of y-websocket sync, see each other's presence, and its end.
  async sync () {
    const [a, b] = [yws(Provider3, 'a room/é'), yws(Provider2, 'a room/é')]
    await until('both synced', () => a.synced && b.synced)
    append(a.doc, 'from 3.1. ')
    append(b.doc, 'from 2.1. ')
    await until('both texts', () => same([a.doc, b.doc]) && text(a.doc).length === 20)
    a.awareness.setLocalStateField('user', { name: 'Ada' })
    await until('presence', () => b.awareness.getStates().get(a.doc.clientID)?.user?.name === 'Ada')
    a.destroy()
    await until('presence ends', () => !b.awareness.getStates().has(a.doc.clientID))
  },

  // A disconnected client keeps editing; so does the other; both have all afterwards.
  async offline () {
    for (const Provider of [Provider3, Provider2]) {
      const room = `offline ${Provider === Provider3}`
      const [a, b] = [yws(Provider, room), yws(Provider, room)]
      await until('both synced', () => a.synced && b.synced)
      a.disconnect()
      append(a.doc, 'offline. ')
      append(b.doc, 'online. ')
      await new Promise(resolve => setTimeout(resolve, 50))
      a.connect()
      await until('both texts', () => same([a.doc, b.doc]) && text(a.doc).length === 17)
    }
  },

  // hocuspocus and y-websocket clients meet in one document; every change is acknowledged.
  async hocuspocus () {
    const [a, b] = [hocus('mixed'), hocus('mixed')]
    const c = yws(Provider3, 'mixed')
    await until('all synced', () => a.synced && b.synced && c.synced)
    assert.equal(a.authorizedScope, 'read-write')
    for (let i = 0; i < 50; i++) {
      append([a, b, c][i % 3].document ?? c.doc, `${i};`)
    }
    await until('all texts', () => same([a.document, b.document, c.doc]) && text(c.doc).length === 140)
    await until('all acknowledged', () => a.unsyncedChanges === 0 && b.unsyncedChanges === 0)
    a.setAwarenessField('user', { name: 'Ada' })
    await until('presence', () => c.awareness.getStates().get(a.document.clientID)?.user?.name === 'Ada')
    a.destroy()
    await until('presence ends', () => !c.awareness.getStates().has(a.document.clientID))
    b.forceSync()
    await until('acknowledged again', () => b.unsyncedChanges === 0)
  },

  // Several documents, and one document twice, on one socket.
  async multiplex () {
    const socket = new HocuspocusProviderWebsocket({ url, WebSocketPolyfill: WebSocket })
    opened.push(socket)
    const on = (name, options) => hocus(name, new Y.Doc(), { websocketProvider: socket, ...options })
    const [a, b] = [on('one'), on('two')]
    const [c, d] = [on('three', { sessionAwareness: true }), on('three', { sessionAwareness: true })]
    await until('all synced', () => [a, b, c, d].every(provider => provider.synced))
    append(a.document, 'one')
    append(b.document, 'two')
    append(c.document, 'three')
    await until('the twin', () => text(d.document).toString() === 'three')
    const [one, two] = [yws(Provider3, 'one'), yws(Provider3, 'two')]
    await until('the right documents', () => text(one.doc).toString() === 'one' && text(two.doc).toString() === 'two')
    a.destroy()
    append(one.doc, '!')
    append(two.doc, '!')
    await until('the others stay', () => text(b.document).toString() === 'two!')
    assert.equal(text(a.document).toString(), 'one')
  },

  // The server has a file with the tokens "writer-token" and "reader-token".
  async auth () {
    // A provider of 3.1 that is refused stops for ever; one of 2.1 is told why.
    const refused = yws(Provider3, 'doc', new Y.Doc(), { params: { token: 'wrong' } })
    let code
    refused.on('connection-close', event => { code = event.code })
    await until('closed with its code', () => code === 4401)
    await until('and it stops', () => !refused.shouldConnect)
    const warn = console.warn
    let warned = ''
    console.warn = (...words) => { warned += words.join(' ') }
    const old = yws(Provider2, 'doc', new Y.Doc(), { params: { token: 'wrong' } })
    await until('the reason is shown', () => warned.includes('not known'))
    old.disconnect()
    console.warn = warn
    let failed
    const denied = hocus('doc', new Y.Doc(), { token: 'wrong', onAuthenticationFailed: ({ reason }) => { failed = reason } })
    await until('hocuspocus is told', () => failed?.includes('not known'))
    denied.destroy()
    // Reading without writing, in both dialects.
    const writer = yws(Provider3, 'doc', new Y.Doc(), { params: { token: 'writer-token' } })
    const reader = yws(Provider3, 'doc', new Y.Doc(), { params: { token: 'reader-token' } })
    const reader4 = hocus('doc', new Y.Doc(), { token: 'reader-token' })
    const writer4 = hocus('doc', new Y.Doc(), { token: 'writer-token' })
    await until('all in', () => [writer, reader, reader4, writer4].every(provider => provider.synced))
    assert.equal(reader4.authorizedScope, 'readonly')
    append(writer.doc, 'written. ')
    await until('all read', () => [reader.doc, reader4.document, writer4.document].every(doc => text(doc).length === 9))
    append(reader.doc, 'scribbled. ')
    append(reader4.document, 'scribbled too. ')
    reader.awareness.setLocalStateField('user', 'reader')
    await until('a reader shows presence', () => writer.awareness.getStates().get(reader.doc.clientID)?.user === 'reader')
    append(writer4.document, 'more.')
    await until('the writers agree', () => text(writer.doc).toString() === 'written. more.')
    await until('the writer is acknowledged', () => writer4.unsyncedChanges === 0)
    assert(reader4.unsyncedChanges > 0, 'what a reader writes is not acknowledged')
  },

  // A document of several megabytes, up and down, in both dialects.
  async large () {
    const doc = new Y.Doc()
    const map = doc.getMap('map')
    doc.transact(() => {
      for (let i = 0; i < 4000; i++) map.set(`key ${i}`, `${i} `.repeat(250))
    })
    append(doc, 'the end')
    const up = hocus('large', doc)
    await until('stored', () => up.synced && up.unsyncedChanges === 0)
    const down = [yws(Provider3, 'large'), yws(Provider2, 'large')]
    const down4 = hocus('large')
    const whole = provider => text(provider.doc ?? provider.document).toString() === 'the end'
    await until('loaded', () => [...down, down4].every(whole))
    for (const provider of [...down, down4]) {
      const copy = (provider.doc ?? provider.document).getMap('map')
      assert.equal(copy.size, 4000)
      assert.equal(copy.get('key 3999'), map.get('key 3999'))
    }
  },

  // Tabs of one browser tell each other by a BroadcastChannel and relay each other's presence.
  async broadcast () {
    const tabs = [1, 2].map(() => yws(Provider3, 'tabs', new Y.Doc(), { disableBc: false }))
    const far = yws(Provider3, 'tabs')
    await until('all synced', () => [...tabs, far].every(provider => provider.synced))
    tabs.forEach((tab, i) => tab.awareness.setLocalStateField('tab', i))
    const sees = tab => far.awareness.getStates().has(tab.doc.clientID)
    await until('both are seen', () => tabs.every(sees))
    tabs[0].destroy()
    // As it leaves, a tab hears its own farewell back from the other and protests, which the other may relay last.
    await until('one left', () => !sees(tabs[0]), 5_000)
    await new Promise(resolve => setTimeout(resolve, 200))
    assert(!sees(tabs[0]), 'and does not come back')
    assert(!tabs[1].awareness.getStates().has(tabs[0].doc.clientID), 'nor for the tab that relayed it')
    tabs[1].awareness.setLocalStateField('tab', 'again')
    await until('the other is there', () => far.awareness.getStates().get(tabs[1].doc.clientID)?.tab === 'again')
  },

  // The question of docs/SERVER.md: is stored what was edited before?
  async stored () {
    for (const Provider of [Provider3, Provider2]) {
      const provider = yws(Provider, 'stored')
      await until('synced', () => provider.synced)
      const stored = storedBy(provider)
      append(provider.doc, 'kept. ')
      assert.deepEqual(await Promise.all([stored(), stored()]), [true, true])
    }
  },

  // Clients that do nothing are never dropped. The argument: for how many seconds.
  async idle () {
    const clients = [yws(Provider3, 'idle'), yws(Provider2, 'idle'), hocus('idle')]
    await until('all synced', () => clients.every(provider => provider.synced))
    let drops = 0
    clients[0].on('connection-close', () => drops++)
    clients[1].on('connection-close', () => drops++)
    clients[2].on('disconnect', () => drops++)
    await new Promise(resolve => setTimeout(resolve, Number(argument) * 1000))
    assert.equal(drops, 0)
    assert(clients.every(provider => provider.synced))
  },

  // The server ends and comes back on the same port; the clients come back by themselves. Talks with its starter: says
  // "ready", waits for a line, edits, waits for another.
  async reconnect () {
    const clients = [yws(Provider3, 'reconnect'), yws(Provider2, 'reconnect'), hocus('reconnect')]
    const docs = clients.map(provider => provider.doc ?? provider.document)
    await until('all synced', () => clients.every(provider => provider.synced))
    append(docs[0], 'before. ')
    await until('all have it', () => same(docs) && text(docs[0]).length === 8)
    await until('acknowledged', () => clients[2].unsyncedChanges === 0)
    const line = () => new Promise(resolve => process.stdin.once('data', resolve))
    const ended = line()
    console.log('ready')
    await ended
    docs.forEach((doc, i) => append(doc, `offline ${i}. `))
    const back = line()
    console.log('edited')
    await back
    await until('all have all', () => same(docs) && text(docs[0]).length === 8 + 3 * 11)
    process.stdin.destroy()
  }
}

await scenarios[scenario]()
for (const one of opened.reverse()) one.destroy()
console.log('1 passed, 0 failed')
process.exit(0)
