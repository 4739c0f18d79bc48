/**
 * An element as data: the server writes it as HTML (views/html.ts), the browser draws it (draw.js). A child is a text or
 * an element; an attribute that is undefined is left out.
 */
export const h = (name, attributes, ...children) => ({
  name,
  attributes,
  children: children.flat().filter(child => child !== ''),
})
