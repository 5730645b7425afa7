import { gather } from './gather';

// The tests of the sandbox cannot notice a change of a node.
gather('unit', /^sandbox/);
