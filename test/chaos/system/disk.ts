import { spawnSync } from 'node:child_process'
import { mkdirSync, statfsSync } from 'node:fs'

/** A small disk of its own for Postgres, so that it can be full without filling this machine's. */
export type Disk = {
  fill: () => void
  free: () => void
  /** Unmounts it; nothing may use it at that time. */
  remove: () => void
}

const roomy = 'size=4g'

/** Mounts one in memory at `folder`; undefined if that is not possible (it needs root, and a kernel that allows it). */
export function mountDisk(folder: string): Disk | undefined {
  mkdirSync(folder, { recursive: true })
  if (process.platform !== 'linux' || !mount('-t', 'tmpfs', '-o', roomy, 'tmpfs', folder)) return undefined
  const remove = () => void spawnSync('umount', ['-l', folder])
  process.on('exit', remove)
  return {
    fill() {
      const { blocks, bfree, bsize } = statfsSync(folder)
      // A little more than what is there: rounding must not make it less, which the kernel refuses.
      const usedKiB = Math.ceil(((blocks - bfree) * bsize) / 1024) + 64
      if (!mount('-o', `remount,size=${usedKiB}k`, folder))
        throw new Error(`${folder} could not be made smaller`)
    },
    free() {
      if (!mount('-o', `remount,${roomy}`, folder))
        throw new Error(`${folder} could not be made larger again`)
    },
    remove,
  }
}

const mount = (...args: string[]): boolean => spawnSync('mount', args).status === 0
