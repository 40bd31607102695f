import { mount } from 'svelte'
import App from './App.svelte'
import { wails } from './lib/backend.wails'
import './styles/tokens.css'
import './styles/components.css'
import './styles/page.css'

mount(App, { target: document.getElementById('app')!, props: { backend: wails } })
