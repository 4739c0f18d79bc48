// The page of recovery codes: copy and print.
import './copy.js'

document.getElementById('print').addEventListener('click', () => print())
