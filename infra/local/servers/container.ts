import { createHash } from 'node:crypto'
import { run, tryRun } from '../command.ts'
import type { PartSetup } from './part.ts'
import { type PartName, type Server, serverOf } from './server.ts'

/** A server's official image and how to run it. */
export type Image = {
  name: PartName
  url: string
  image: string
  /** The port inside the container. */
  innerPort: number
  /** The folder inside the container that holds the data. */
  innerFolder: string
  env: Record<string, string>
  /** Who runs it, and what in place of the image's own entry point. */
  user?: string
  entrypoint?: string[]
  args: string[]
  stopSignal: NodeJS.Signals
  answers: () => Promise<boolean>
}

/** Whether a Docker engine answers and its command line program is there. */
export async function hasDocker(): Promise<boolean> {
  return (await tryRun('docker', ['version', '--format', '{{.Server.Version}}'])) !== undefined
}

/**
 * A server from its official image, for a machine that cannot have it otherwise. Its data lies in a volume, because
 * the images' users could not write into a folder of this checkout.
 */
export function containerServer(image: Image, setup: PartSetup): Server {
  const container = containerName(setup.folder)
  const { name, url, answers, stopSignal, env } = image
  // Without values, which come from the environment of `docker`: everybody can see arguments.
  const variables = Object.keys(env).flatMap(key => ['-e', key])
  const [entrypoint, ...first] = image.entrypoint ?? []
  const how = [
    ...(image.user === undefined ? [] : ['--user', image.user]),
    ...(entrypoint === undefined ? [] : ['--entrypoint', entrypoint]),
  ]
  const publish = `127.0.0.1:${setup.port}:${image.innerPort}`
  const volume = `${container}:${image.innerFolder}`
  const args = [
    'run',
    '--rm',
    '--name',
    container,
    '-p',
    publish,
    '-v',
    volume,
    ...variables,
    ...how,
    image.image,
    ...first,
    ...image.args,
  ]

  async function prepare() {
    await tryRun('docker', ['rm', '-f', container])
    if ((await tryRun('docker', ['image', 'inspect', image.image])) === undefined) {
      setup.log(`${name}: pulling the image ${image.image}`)
      await run('docker', ['pull', image.image], { signal: setup.signal })
    }
    return { command: 'docker', args, env, stopSignal, orphanCommand: `docker rm -f ${container}` }
  }
  const signal = async (which: NodeJS.Signals) =>
    void (await tryRun('docker', ['kill', '--signal', which.replace('SIG', ''), container]))
  const pidFile = `${setup.folder}/pid`
  const { port, logFile } = setup
  return serverOf({ name, url, port, pidFile, logFile, prepare, answers, signal }, setup)
}

/** Deletes the data that a container of this folder kept. */
export async function forgetVolume(folder: string): Promise<void> {
  await tryRun('docker', ['volume', 'rm', '-f', containerName(folder)])
}

/** One name for each data folder, so that two checkouts do not meet. */
const containerName = (folder: string) =>
  `tally-${createHash('sha256').update(folder).digest('hex').slice(0, 12)}`
