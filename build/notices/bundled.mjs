// Prints the files of which something is in the page, as JSON. It runs in the
// folder frontend, and writes nothing.
import { resolve } from 'node:path'
import { build } from 'vite'

const files = new Set()
const listen = {
  name: 'bundled',
  generateBundle(_, bundle) {
    for (const one of Object.values(bundle)) {
      for (const file of one.type === 'chunk' ? Object.keys(one.modules) : one.originalFileNames) files.add(resolve(file))
    }
  },
}
await build({
  logLevel: 'error',
  plugins: [listen],
  // Wails writes these files from our own code and its own, which is a module of Go.
  build: { write: false, rollupOptions: { external: /\/wailsjs\// } },
})
process.stdout.write(JSON.stringify([...files].sort()))
