declare module 'snappyjs' {
  const snappyjs: { compress(bytes: Buffer): Buffer }
  export default snappyjs
}

declare module 'lz4js' {
  const lz4js: { compress(bytes: Buffer): Uint8Array }
  export default lz4js
}
