// Code names the reader's own host, which the process does not know behind a proxy, and can be copied.
for (const code of document.querySelectorAll('code'))
  if (code.textContent.includes('tally.example.org'))
    code.textContent = code.textContent.replaceAll('https://tally.example.org', location.origin)

for (const pre of document.querySelectorAll('pre')) {
  const box = document.createElement('div')
  const button = document.createElement('button')
  box.className = 'code'
  button.type = 'button'
  button.ariaLive = 'polite'
  button.textContent = 'Copy'
  button.addEventListener('click', async () => {
    button.textContent = (await copy(pre)) ? 'Copied' : 'Press Ctrl+C'
  })
  pre.replaceWith(box)
  box.append(pre, button)
}

/** Without TLS browsers offer no clipboard: the text is selected, so that it can be copied by hand. */
async function copy(pre) {
  try {
    await navigator.clipboard.writeText(pre.textContent)
    return true
  } catch {
    getSelection().selectAllChildren(pre)
    return document.execCommand('copy')
  }
}
