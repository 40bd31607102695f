import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vitest/config'

// `vite build` makes the page of the window; `--mode gallery` makes the one
// that shows fixtures, with a fake in the place of the host.
export default defineConfig(({ mode }) => ({
  plugins: [svelte()],
  build: {
    outDir: mode === 'gallery' ? 'dist-gallery' : 'dist',
    target: 'safari16',
    cssMinify: false, // the floor of the design is the WebKit of macOS 13
    modulePreload: { polyfill: false },
    rollupOptions: { input: mode === 'gallery' ? 'gallery.html' : 'index.html' },
  },
  resolve: process.env.VITEST ? { conditions: ['browser'] } : undefined,
  test: { environment: 'jsdom', include: ['src/**/*.test.ts'] },
}))
