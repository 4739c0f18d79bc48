// The page that shows a token: copy buttons, and a reload that makes no second key.
history.replaceState(null, '', document.querySelector('[data-page]').dataset.page)

for (const button of document.querySelectorAll('[data-copy]')) {
  button.addEventListener('click', async () => {
    const code = document.getElementById(button.dataset.copy)
    const isCopied = await copy(code)
    button.textContent = isCopied ? 'Copied' : 'Press Ctrl+C'
    document.getElementById('copied').textContent = isCopied ? 'Copied' : 'Selected: copy it with Ctrl+C'
  })
}

/** Without TLS a browser has no clipboard for pages: then the text is selected, ready to be copied by hand. */
async function copy(code) {
  try {
    await navigator.clipboard.writeText(code.textContent)
    return true
  } catch {
    getSelection().selectAllChildren(code)
    return document.execCommand('copy')
  }
}
