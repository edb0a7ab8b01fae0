/** Runs until it is ended. Prints the addresses of the servers, for all runtimes the same, as one line of JSON. */
import { type RecordedRequest, startRecordingServer } from '../../support/recording-server.ts';
import { startHttp2Server } from './http2-server.ts';

const requests: RecordedRequest[] = [];
const { url } = await startRecordingServer(requests);
console.log(JSON.stringify({ http: url, http2: await startHttp2Server(requests) }));
