// A rich text on the real yjs and y-websocket. The document is named by what follows # in the address.
import Quill from 'quill'
import QuillCursors from 'quill-cursors'
import { QuillBinding } from 'y-quill'
import { WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'

Quill.register('modules/cursors', QuillCursors)

const byId = id => document.getElementById(id)
const names = ['Ada', 'Grace', 'Alan', 'Barbara', 'Edsger', 'Frances', 'Donald', 'Radia', 'Ken', 'Margaret']
const pick = list => list[Math.floor(Math.random() * list.length)]
const remembered = (key, make) => {
  try {
    const value = sessionStorage.getItem(key) ?? make()
    sessionStorage.setItem(key, value)
    return value
  } catch {
    return make()
  }
}
const user = {
  name: remembered('name', () => pick(names)),
  color: remembered('color', () => `hsl(${Math.floor(Math.random() * 360)} 65% 45%)`)
}

const room = () => {
  try {
    return decodeURIComponent(location.hash.slice(1)) || 'welcome'
  } catch {
    return 'welcome'
  }
}
const query = new URLSearchParams(location.search)
const params = query.has('token') ? { token: query.get('token') } : {}
const server = `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}`

const doc = new Y.Doc()
// y-websocket puts the name into the path as it is.
const provider = new WebsocketProvider(server, encodeURIComponent(room()), doc, { params })
const editor = new Quill('#editor', {
  theme: 'snow',
  placeholder: 'Write here; open this page twice.',
  modules: {
    cursors: { transformOnTextChange: true },
    history: { userOnly: true },
    toolbar: [[{ header: [1, 2, false] }], ['bold', 'italic', 'underline', 'code'], [{ list: 'ordered' }, { list: 'bullet' }], ['blockquote', 'link', 'clean']]
  }
})
new QuillBinding(doc.getText('quill'), editor, provider.awareness)
provider.awareness.setLocalStateField('user', user)

const state = byId('state')
const show = text => {
  state.textContent = text
  state.dataset.state = text
}
provider.on('status', ({ status }) => show(provider.shouldConnect ? status : 'offline'))
provider.on('sync', synced => { if (synced) show('synced') })
provider.on('connection-close', event => { if (event?.code >= 4400 && event.code < 4500) show(event.reason || 'refused') })

const peers = byId('peers')
const who = () => {
  const all = [...provider.awareness.getStates().values()].map(state => state.user).filter(Boolean)
  peers.replaceChildren(...all.slice(0, 12).map(({ name, color }) => {
    const dot = document.createElement('i')
    dot.textContent = String(name).slice(0, 1)
    dot.title = String(name)
    dot.style.background = String(color)
    return dot
  }))
  peers.dataset.count = all.length
}
provider.awareness.on('change', who)
who()

const offline = byId('offline')
offline.addEventListener('click', () => {
  if (provider.shouldConnect) {
    provider.disconnect()
    show('offline')
    offline.textContent = 'go online'
  } else {
    provider.connect()
    offline.textContent = 'go offline'
  }
})
byId('room').value = room()
byId('go').addEventListener('submit', event => {
  event.preventDefault()
  location.hash = encodeURIComponent(byId('room').value.trim() || 'welcome')
})
addEventListener('hashchange', () => location.reload())
