import { svelte } from '@sveltejs/vite-plugin-svelte'
import type { Plugin } from 'vite'
import { defineConfig } from 'vitest/config'

// `vite build` makes the page of the window; `--mode gallery` makes the one
// that shows fixtures, with a fake in the place of the host.
const gallery: Plugin = {
  name: 'gallery',
  transformIndexHtml: { order: 'pre', handler: (html) => html.replace('/src/main.ts', '/src/gallery.ts') },
}

export default defineConfig(({ mode }) => ({
  plugins: [svelte(), mode === 'gallery' && gallery],
  build: {
    outDir: mode === 'gallery' ? 'dist-gallery' : 'dist',
    target: 'safari16',
    cssMinify: false, // the floor of the design is the WebKit of macOS 13
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 2000, // it is read from memory, and the gallery holds all fixtures
  },
  resolve: process.env.VITEST ? { conditions: ['browser'] } : undefined,
  // A busy machine fails no test: the limit is for what hangs.
  test: { environment: 'jsdom', include: ['src/**/*.test.ts'], testTimeout: 120_000, maxWorkers: '100%' },
}))
