// Buttons: those that copy the text of an element, and the one that prints the page.
document.getElementById('print')?.addEventListener('click', () => print())
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
