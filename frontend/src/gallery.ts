// The page with a fixture instead of a host: index.html?fixture=NAME&theme=dark.
import { mount } from 'svelte'
import App from './App.svelte'
import { fake, type Fixture } from './lib/backend.fake'
import './styles/tokens.css'
import './styles/components.css'
import './styles/page.css'

const fixtures = import.meta.glob<Fixture>('./fixtures/*.json', { eager: true, import: 'default' })
const asked = new URLSearchParams(location.search)
const fixture = fixtures[`./fixtures/${asked.get('fixture')}.json`]
const app = document.getElementById('app')!
if (fixture) {
  const theme = asked.get('theme') === 'dark' ? 'dark' : 'light'
  mount(App, { target: app, props: { backend: fake({ ...fixture, screen: { ...fixture.screen, theme } }) } })
} else {
  app.textContent = 'Fixtures: ' + Object.keys(fixtures).join(' ')
}
