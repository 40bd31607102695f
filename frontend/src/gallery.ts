// The page with a fixture instead of a host: index.html?fixture=NAME&theme=dark.
// question=JSON says what is otherwise about its first question.
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
  Object.assign(fixture.screen.waiting[0] ?? {}, JSON.parse(asked.get('question') ?? '{}'))
  const theme = asked.get('theme') === 'dark' ? 'dark' : 'light'
  mount(App, { target: app, props: { backend: fake({ ...fixture, screen: { ...fixture.screen, theme } }) } })
} else {
  app.textContent = 'Fixtures: ' + Object.keys(fixtures).join(' ')
}
