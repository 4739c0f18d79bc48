// The form of a new key or screen link: fields that the choices above them need, and areas of the chosen event only.
// Without a script all of them are there, and the server says what does not fit.
const form = document.getElementById('new')
const by = id => document.getElementById(id)

function adapt() {
  const { eventId, shows, area, ends } = form.elements
  by('last-day-part').hidden = ends.value !== 'date'
  if (area === undefined) return
  by('area-part').hidden = shows.value !== 'kitchen'
  for (const group of area.querySelectorAll('optgroup')) {
    const isOfEvent = group.dataset.event === eventId.value
    group.hidden = !isOfEvent
    group.disabled = !isOfEvent
  }
  if (area.value !== '' && !area.value.startsWith(eventId.value)) area.value = ''
}

if (form !== null) {
  form.addEventListener('change', adapt)
  adapt()
}
