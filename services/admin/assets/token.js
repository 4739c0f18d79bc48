// The page that shows a token: copy buttons, and a URL whose reload does not create a second key.
import './buttons.js'

history.replaceState(null, '', document.querySelector('[data-page]').dataset.page)
