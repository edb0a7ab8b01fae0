import { render } from 'preact';
import { hasToken, takeToken } from './api.ts';
import { App } from './app.tsx';
import { start, store } from './store.ts';

takeToken();
store.hasToken = hasToken();
start();
const root = document.getElementById('app');
if (root !== null) render(<App />, root);
