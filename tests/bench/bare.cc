// A program that is linked to what railwright-agent is linked to, and returns at once.
int main() { return 0; }
