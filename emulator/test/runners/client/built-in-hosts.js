import { story } from './story.js';

await story({});
