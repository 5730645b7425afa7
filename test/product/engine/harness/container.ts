import './environment';
import { Logger } from '@n8n/backend-common';
import { Container } from '@n8n/di';
import { LoggerProxy } from 'n8n-workflow';
import { CapturingLogger } from './logs';

const logger = new CapturingLogger();

// Services take the logger when they are first built, so it has to be there before any of them.
Container.set(Logger, logger as unknown as Logger);
LoggerProxy.init(logger);
