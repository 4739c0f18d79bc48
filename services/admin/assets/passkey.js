// Forms that are sent with what the browser says of a passkey.
const { PublicKeyCredential } = window
const canMake = PublicKeyCredential?.parseCreationOptionsFromJSON

for (const form of document.querySelectorAll('[data-passkey]')) {
  const alert = form.querySelector('[role="alert"]')
  if (!canMake) {
    alert.textContent = 'This browser has no passkeys, or the area is open without TLS (https).'
    form.querySelector('button').disabled = true
    continue
  }
  form.addEventListener('submit', async event => {
    event.preventDefault()
    try {
      form.elements.passkey.value = JSON.stringify((await ask(form.dataset)).toJSON())
      form.submit()
    } catch ({ name }) {
      // Browsers say no more, so that a page cannot tell which passkeys there are.
      alert.textContent =
        name === 'InvalidStateError'
          ? 'This device already has a passkey of your account.'
          : 'No passkey was used. Try again; if this page is older than five minutes, reload it first.'
    }
  })
}

/** Asks for a new passkey, or for the signature of one that is known. */
function ask({ passkey, options }) {
  const asked = JSON.parse(options)
  return passkey === 'create'
    ? navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(asked) })
    : navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(asked) })
}
