/** Express 4 is installed under another name, without types of its own. */
declare module 'express4' {
  import express from 'express'
  export default express
}
