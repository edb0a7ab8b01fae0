import { describeFramework } from './contract.ts';
import { mountNext } from './mount-next.ts';

describeFramework('a Next.js route handler', mountNext, { otherMethods: 'framework' });
