/** A visitor of an administration area over HTTP: keeps cookies and sends forms with their token, like a browser. */
export function visitorAt(area: string, cookies = new Map<string, string>()) {
  const cookie = () => [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const send = async (path: string, form?: Record<string, string>) => {
    const body = form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }
    const reply = await fetch(area + path, { ...body, headers: { cookie: cookie() }, redirect: 'manual' })
    for (const line of reply.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
    return { status: reply.status, location: reply.headers.get('location') ?? '', text: await reply.text() }
  }
  return {
    cookies,
    /** The header with all cookies. */
    cookie,
    get: (path: string) => send(path),
    /** Sends a form as the page `from` would. */
    async post(path: string, fields: Record<string, string>, from = path) {
      const [, _csrf = ''] = /name="_csrf" value="([^"]+)"/.exec((await send(from)).text) ?? []
      return send(path, { _csrf, ...fields })
    },
  }
}
