// On every page: sets the theme before the first paint, and shows times in the viewer's time zone and locale.
const root = document.documentElement
const chosen = kept('theme')
if (chosen === 'dark' || chosen === 'light') root.dataset.theme = chosen

const isDark = () =>
  root.dataset.theme === undefined
    ? matchMedia('(prefers-color-scheme: dark)').matches
    : root.dataset.theme === 'dark'

document.addEventListener('DOMContentLoaded', () => {
  const button = document.getElementById('theme')
  if (button !== null)
    button.addEventListener('click', () => {
      root.dataset.theme = isDark() ? 'light' : 'dark'
      keep('theme', root.dataset.theme)
    })
  showTimes()
})
document.addEventListener('refreshed', showTimes)

function showTimes() {
  const moments = new Intl.DateTimeFormat(root.dataset.locale, { dateStyle: 'medium', timeStyle: 'short' })
  for (const time of document.querySelectorAll('time:not([title])')) {
    time.title = time.textContent
    time.textContent = moments.format(new Date(time.dateTime))
  }
}

/** A browser may allow no storage: then every page begins with the theme of the system. */
function kept(name) {
  try {
    return localStorage.getItem(name)
  } catch {
    return null
  }
}
function keep(name, value) {
  try {
    localStorage.setItem(name, value)
  } catch {
    // As above.
  }
}
