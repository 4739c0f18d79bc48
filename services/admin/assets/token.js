// The page that shows a token: copy buttons, and a URL whose reload does not create a second key.
history.replaceState(null, '', document.querySelector('[data-page]').dataset.page)

for (const button of document.querySelectorAll('[data-copy]')) {
  button.addEventListener('click', async () => {
    const code = document.getElementById(button.dataset.copy)
    const isCopied = await copy(code)
    button.textContent = isCopied ? 'Copied' : 'Press Ctrl+C'
    document.getElementById('copied').textContent = isCopied ? 'Copied' : 'Selected: copy it with Ctrl+C'
  })
}

/** Without TLS browsers offer no clipboard: the text is selected, so that it can be copied by hand. */
async function copy(code) {
  try {
    await navigator.clipboard.writeText(code.textContent)
    return true
  } catch {
    getSelection().selectAllChildren(code)
    return document.execCommand('copy')
  }
}
