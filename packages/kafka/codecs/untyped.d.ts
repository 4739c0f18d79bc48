declare module 'snappyjs' {
  const snappyjs: { compress(bytes: Buffer): Buffer }
  export default snappyjs
}

declare module 'lz4js' {
  const lz4js: {
    compressBound(size: number): number
    compressBlock(from: Uint8Array, to: Uint8Array, start: number, length: number, table: Uint32Array): number
  }
  export default lz4js
}

declare module 'lz4js/xxh32.js' {
  const xxh32: { hash(seed: number, bytes: Uint8Array, start: number, length: number): number }
  export default xxh32
}
