// Answers the requests of a trace anew by real Yjs: reads lines {"q": request, ...} on stdin, writes {"q", "a": reply}.
//
//   node interop/record.mjs < testdata/adapter/version-2.jsonl > /tmp/new.jsonl
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const peer = spawn(process.execPath, [fileURLToPath(new URL('./yjs-peer.mjs', import.meta.url))], { stdio: ['pipe', 'pipe', 'inherit'] })
const replies = createInterface({ input: peer.stdout })[Symbol.asyncIterator]()
for await (const line of createInterface({ input: process.stdin })) {
  if (line.trim() === '') continue
  const { q } = JSON.parse(line)
  peer.stdin.write(JSON.stringify(q) + '\n')
  console.log(JSON.stringify({ q, a: JSON.parse((await replies.next()).value) }))
}
peer.stdin.end()
