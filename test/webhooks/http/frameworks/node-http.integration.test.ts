import { createServer } from 'node:http';
import { describeFramework } from './contract.ts';
import { mountServer } from './listen.ts';

describeFramework('node:http', (webhooks) => mountServer(createServer(webhooks.node)));
