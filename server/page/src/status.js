// The documents in memory, every two seconds, from the API.
const byId = id => document.getElementById(id)
const cell = text => {
  const td = document.createElement('td')
  td.textContent = text
  return td
}
const ask = async () => {
  const token = byId('token').value
  const headers = token ? { authorization: `Bearer ${token}` } : {}
  const answer = await fetch('/api/v1/rooms', { headers })
  const body = await answer.json()
  if (!answer.ok) throw new Error(body.error)
  byId('rooms').replaceChildren(...body.rooms.map(room => {
    const row = document.createElement('tr')
    const link = document.createElement('a')
    link.href = `/#${encodeURIComponent(room.name)}`
    link.textContent = room.name
    const name = document.createElement('td')
    name.append(link)
    row.append(name, cell(room.peers), cell(room.present), cell(room.bytes))
    return row
  }))
  return `${body.rooms.length} in memory`
}
const loop = async () => {
  byId('state').textContent = await ask().catch(error => error.message)
  setTimeout(loop, 2000)
}
byId('go').addEventListener('submit', event => { event.preventDefault(); ask() })
loop()
