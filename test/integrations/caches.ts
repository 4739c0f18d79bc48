import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '@tally/testkit/until'
import { programPath } from '#infra/install/programs.ts'
import { freePort, isFree } from '#infra/servers/ports.ts'
import { end, endOfLog, launch } from '#infra/servers/process.ts'
import { log } from './programs.ts'

const neededBy = 'the tests of shared caches'
const nginx = { names: ['nginx'], debianPackage: 'nginx', neededBy }
const varnish = { names: ['varnishd'], debianPackage: 'varnish', neededBy }

/** A shared cache in front of one server. */
export type Cache = { address: string; stop: () => Promise<unknown> }
export type StartCache = (backend: string, folder: string) => Promise<Cache>

/** Settings of an nginx that writes into this folder only. Its workers are another user's if root starts it. */
export const nginxSettings = (folder: string, http: string) => `
${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log stderr warn;
events { worker_connections 4096; }
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
${http}
}
`

/** The lines that nginx's documentation of `proxy_cache_valid` begins with, all of them; and kept connections. */
const cacheSettings = (listen: string, backend: string, folder: string) => `
  proxy_cache_path ${folder}/cache levels=1:2 keys_zone=one:10m;
  upstream tally { server ${backend}; keepalive 4; }
  server {
    listen ${listen};
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    proxy_cache one;
    proxy_cache_valid 200 302 10m;
    proxy_cache_valid 404 1m;
    proxy_cache_valid any 1m;
    add_header X-Cache $upstream_cache_status always;
    location / { proxy_pass http://tally; }
  }`

export const startNginx: StartCache = async (backend, folder) => {
  const listen = `127.0.0.1:${await freePort()}`
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'nginx.conf')
  writeFileSync(file, nginxSettings(folder, cacheSettings(listen, new URL(backend).host, folder)))
  const command = await programPath(nginx, log)
  return start('nginx', { command, args: ['-e', 'stderr', '-p', folder, '-c', file] }, listen, folder)
}

/** Varnish with its built-in VCL and nothing but a backend, as its documentation begins. */
export const startVarnish: StartCache = async (backend, folder) => {
  const listen = `127.0.0.1:${await freePort()}`
  mkdirSync(folder, { recursive: true })
  const where = ['-n', join(folder, 'varnish'), '-a', listen, '-b', new URL(backend).host]
  const args = ['-F', '-j', 'none', '-T', 'none', '-s', 'malloc,32m', ...where]
  return start('varnish', { command: await programPath(varnish, log), args }, listen, folder)
}

/** Starts a program, and waits until it listens there. */
export async function start(
  name: string,
  program: { command: string; args: string[] },
  listen: string,
  folder: string,
): Promise<Cache> {
  const logFile = join(folder, `${name}.log`)
  const running = launch({ ...program, logFile, stopSignal: 'SIGTERM' })
  const port = Number(listen.split(':')[1])
  await until(`${name} listens`, async () => {
    if (running.hasEnded()) throw new Error(`${name} ended:\n${endOfLog(logFile)}`)
    return !(await isFree(port))
  })
  return { address: `http://${listen}`, stop: () => end(running, 'SIGTERM') }
}
