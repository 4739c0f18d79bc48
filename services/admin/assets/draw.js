const svg = 'http://www.w3.org/2000/svg'
/** Attributes that others change: a person opens and closes what is there, and marks.js marks it. */
const ofOthers = ['open', 'data-changed']

/**
 * Makes the children of an element those of a tree (tree.js). Only what differs is touched, so that focus, selection and
 * what is open stay as they are while figures change. Elements with `data-key` are found again wherever they move.
 */
export function draw(parent, children) {
  children.forEach((child, index) => {
    const here = parent.childNodes[index]
    const drawn = typeof child === 'string' ? drawText(here, child) : drawElement(parent, here, child)
    if (drawn !== here) parent.insertBefore(drawn, here === undefined ? null : here)
  })
  while (parent.childNodes.length > children.length) parent.lastChild.remove()
}

function drawText(here, text) {
  if (here === undefined || here.nodeType !== Node.TEXT_NODE) return document.createTextNode(text)
  if (here.data !== text) here.data = text
  return here
}

function drawElement(parent, here, { name, attributes, children }) {
  const key = attributes['data-key']
  const isSame = node => node.localName === name && node.dataset.key === key
  const known = here !== undefined && isSame(here) ? here : key && [...parent.children].find(isSame)
  const node = known || document.createElementNS(name === 'svg' ? svg : parent.namespaceURI, name)
  for (const attribute of node.getAttributeNames())
    if (attributes[attribute] === undefined && !ofOthers.includes(attribute)) node.removeAttribute(attribute)
  for (const [attribute, value] of Object.entries(attributes)) {
    if (value === undefined || (known && ofOthers.includes(attribute))) continue
    if (node.getAttribute(attribute) !== value) node.setAttribute(attribute, value)
  }
  draw(node, children)
  return node
}
