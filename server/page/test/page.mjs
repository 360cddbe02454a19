// The page in two headless browsers: node page.mjs http://127.0.0.1:PORT CHROMIUM; ../test.sh starts the server and installs the driver.
import assert from 'node:assert/strict'
import puppeteer from 'puppeteer-core'

const [, , url, executablePath = '/usr/bin/chromium'] = process.argv
const until = async (what, is) => {
  const end = Date.now() + 20_000
  while (!(await is())) {
    assert(Date.now() < end, `in time: ${what}`)
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}
const open = async () => {
  const browser = await puppeteer.launch({ executablePath, args: ['--no-sandbox'] })
  const page = await browser.newPage()
  page.on('pageerror', error => { throw error })
  await page.goto(`${url}/#a%20page`)
  const state = () => page.$eval('#state', node => node.dataset.state)
  await until('synced', async () => await state() === 'synced')
  return { browser, page, state, text: () => page.$eval('.ql-editor', node => node.innerText.trim()) }
}
const [a, b] = [await open(), await open()]
try {
  await a.page.type('.ql-editor', 'from a. ')
  await until('b has it', async () => (await b.text()).includes('from a.'))
  await b.page.click('.ql-editor')
  await b.page.keyboard.press('End')
  await b.page.keyboard.type(' from b.')
  await until('a has it', async () => (await a.text()).includes('from b.'))
  await until('both are seen', async () => (await a.page.$$('#peers i')).length === 2)
  await a.page.click('#offline')
  await until('offline', async () => await a.state() === 'offline')
  await a.page.click('.ql-editor')
  await a.page.keyboard.press('End')
  await a.page.keyboard.type(' offline a.')
  await b.page.keyboard.type(' meanwhile b.')
  await until('one is seen', async () => (await b.page.$$('#peers i')).length === 1)
  assert(!(await b.text()).includes('offline a.'))
  await a.page.click('#offline')
  await until('both converge', async () => await a.text() === await b.text() && (await a.text()).includes('offline a.') && (await a.text()).includes('meanwhile b.'))
  await a.page.setViewport({ width: 390, height: 844, isMobile: true })
  const wide = await a.page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
  assert(!wide, 'a phone shows it without scrolling sideways')
  await a.page.screenshot({ path: '/tmp/page-phone.png' })
  await b.page.setViewport({ width: 1100, height: 700 })
  await b.page.screenshot({ path: '/tmp/page.png' })
} finally {
  await Promise.all([a.browser.close(), b.browser.close()])
}
console.log('1 passed, 0 failed')
