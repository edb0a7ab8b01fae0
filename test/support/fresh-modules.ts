import { vi } from 'vitest';
import './patience.ts';

/*
 * Test files share a process, not the modules: what `src` remembers, and what a test replaces in it, is each file's own.
 */
vi.resetModules();
