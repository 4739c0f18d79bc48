// The end-of-day sheet: its button opens the browser's print dialog.
document.getElementById('print').addEventListener('click', () => print())
