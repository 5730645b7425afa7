export * from './customFields';
export * from './defineForm';
export * from './fields';
export * from './listSearch';
export * from './locators';
export * from './outputOptions';
export * from './readForm';
export * from './triggerOn';
