// Writes testdata/edges.json: what real Yjs does in corners that no random script reaches. tests/edges.rs does the same here.
// Run: node interop/edges-golden.mjs (deterministic; needs interop/setup.sh).
import { writeFileSync } from 'node:fs'

// lib0 takes Date.now when it is loaded: the time is ours before that.
let now = 0
Date.now = () => now
const Y = await import('yjs')

const hex = bytes => Buffer.from(bytes).toString('hex')
const state = doc => ({ v1: hex(Y.encodeStateAsUpdate(doc)), v2: hex(Y.encodeStateAsUpdateV2(doc)) })
const make = (options = {}) => {
  const doc = new Y.Doc({ guid: 'edges', ...options })
  doc.clientID = 1
  return doc
}

// ---- the order in which a subdocs event names what was loaded ------------------------------------------------------
// Steps of one transaction on a parent that holds b and d, neither loaded.
const LOADED = [
  ['load b', 'insert a'],
  ['insert a', 'load b', 'insert c'],
  ['insert a', 'load b', 'remove a'],
  ['load b', 'remove b'],
  ['load d', 'load b', 'load d'],
  ['insert a', 'remove a', 'load b'],
  ['insert c', 'insert a', 'load d', 'remove c', 'load b']
]
const loaded = LOADED.map(steps => {
  const source = make()
  for (const guid of ['b', 'd']) source.getMap('m').set(guid, new Y.Doc({ guid }))
  const doc = make()
  doc.clientID = 2
  Y.applyUpdate(doc, Y.encodeStateAsUpdate(source))
  const map = doc.getMap('m')
  const events = []
  const guids = docs => [...docs].map(doc => doc.guid)
  doc.on('subdocs', e => events.push([e.added, e.removed, e.loaded].map(guids)))
  doc.transact(() => {
    for (const step of steps) {
      const [what, guid] = step.split(' ')
      if (what === 'load') map.get(guid).load()
      else if (what === 'insert') map.set(guid, new Y.Doc({ guid }))
      else map.delete(guid)
    }
  })
  return { steps, events }
})

// ---- steps of an undo manager while the clock jumps ----------------------------------------------------------------
const TIMES = [[1000, 900, 950, 950, 2000], [1000, 300, 1200, 1800], [0, 0, 10], [5, 4, 3], [1000, 1000, 1001]]
const undo = TIMES.flatMap(times => [0, 1, 500].map(timeout => {
  const doc = make()
  const text = doc.getText('t')
  const manager = new Y.UndoManager(text, { captureTimeout: timeout })
  const steps = times.map(time => {
    now = time
    text.insert(text.length, 'x')
    return manager.undoStack.length
  })
  return { timeout, times, steps }
}))
now = 0

// ---- embeds that are no objects; null makes Yjs throw ------------------------------------------------------------------------------------
const VALUES = ['a string', '', 'ab', 5, -0.5, true, false, [1, 'x'], {}, { a: { b: null } }]
const embeds = VALUES.map(value => {
  const doc = make()
  const text = doc.getText('t')
  let event
  text.observe(e => { event = e.delta })
  doc.transact(() => {
    text.insert(0, 'xy', { bold: true })
    text.insertEmbed(1, value)
    text.insertEmbed(0, value, { link: value })
    text.insert(2, 'z')
  })
  return { value, ...state(doc), length: text.length, string: text.toString(), json: text.toJSON(), delta: text.toDelta(), event }
})

// An embed that holds a string, as yrs and yatta write it (Yjs inserts a string as text): how Yjs reads it.
const embeddedString = update => {
  const doc = make()
  const text = doc.getText('t')
  Y.applyUpdate(doc, Buffer.from(update, 'hex'))
  return { update, ...state(doc), length: text.length, string: text.toString(), delta: text.toDelta() }
}
const string = embeddedString('01020100050101740422616222' + '84010001' + '7800')

// ---- writing to a type that is gone --------------------------------------------------------------------------------
const gone = ['same transaction', 'kept', 'collected'].flatMap(when => ['map', 'array', 'text'].map(kind => {
  const doc = make({ gc: when !== 'kept' })
  const root = doc.getMap('m')
  const type = { map: new Y.Map(), array: new Y.Array(), text: new Y.Text() }[kind]
  root.set('k', type)
  const write = () => {
    if (kind === 'map') type.set('a', 1)
    else if (kind === 'array') type.insert(0, [1, 2])
    else type.insert(0, 'abc')
  }
  write()
  let updates = []
  if (when === 'same transaction') {
    doc.transact(() => { root.delete('k'); write() })
  } else {
    root.delete('k')
    doc.on('update', update => updates.push(hex(update)))
    write()
  }
  const peer = make()
  peer.clientID = 2
  Y.applyUpdate(peer, Y.encodeStateAsUpdate(doc))
  return { when, kind, ...state(doc), updates, read: type.toJSON(), length: kind === 'map' ? type.size : type.length, peer: state(peer), json: peer.getMap('m').toJSON() }
}))

writeFileSync(
  new URL('../testdata/edges.json', import.meta.url),
  JSON.stringify({ generator: 'yjs 13.6.33, interop/edges-golden.mjs', loaded, undo, embeds, string, gone }, null, 1) + '\n'
)
