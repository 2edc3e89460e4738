/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The share of a CPU that a thread does not have, beside timers of these periods: gaps CPU SECONDS [PERIOD_NS ...] */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sched.h>
#include <time.h>
#include <string.h>
#include <x86intrin.h>
#include <sys/timex.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <sys/mman.h>
static unsigned long ns(clockid_t c) {
	struct timespec t;
	clock_gettime(c,&t);
	return t.tv_sec*1000000000UL+t.tv_nsec;
}
static void ss(unsigned long*o) {
	FILE*f=fopen("/proc/self/schedstat","r");
	fscanf(f,"%lu %lu %lu",o,o+1,o+2);
	fclose(f);
}
static void st(int cpu,unsigned long*o) {
	FILE*f=fopen("/proc/stat","r");
	char l[4096],k[16];
	sprintf(k,"cpu%d ",cpu);
	while(fgets(l,4096,f))if(!strncmp(l,k,strlen(k))) {
		sscanf(l+strlen(k),"%lu %lu %lu %lu %lu %lu %lu %lu",o,o+1,o+2,o+3,o+4,o+5,o+6,o+7);
		break;
	}
	fclose(f);
}
static void loc(int cpu, unsigned long*o) {
	FILE*f=fopen("/proc/interrupts","r");
	char l[4096];
	char n[9];
	unsigned long a,b;
	while(fgets(l,4096,f)) {
		if(sscanf(l," %8[A-Z]: %lu %lu",n,&a,&b)==3){unsigned long v=cpu?b:a;
		if(!strcmp(n,"LOC"))o[0]=v;
		if(!strcmp(n,"RES"))o[1]=v;
		if(!strcmp(n,"CAL"))o[2]=v;
		if(!strcmp(n,"TLB"))o[3]=v;
		if(!strcmp(n,"IWI"))o[4]=v;
	}
}
fclose(f);
}
static void smp(int cpu,unsigned long per) {
struct perf_event_attr a={0};
a.type=PERF_TYPE_SOFTWARE;
a.size=sizeof a;
a.config=PERF_COUNT_SW_CPU_CLOCK;
a.sample_period=per;
a.sample_type=PERF_SAMPLE_TID|PERF_SAMPLE_TIME|PERF_SAMPLE_CALLCHAIN;
a.exclude_callchain_user=1;
a.write_backward=0;
int fd=syscall(SYS_perf_event_open,&a,-1,cpu,-1,0);
if(fd<0) {
	perror("perf");
	exit(1);
}
if(mmap(0,4096*(1+1024),PROT_READ,MAP_SHARED,fd,0)==MAP_FAILED)perror("mmap");
}
int main(int c,char**v) {
int cpu=atoi(v[1]);
double sec=atof(v[2]);
cpu_set_t s;
CPU_ZERO(&s);
CPU_SET(cpu,&s);
sched_setaffinity(0,sizeof s,&s);
unsigned long a[3],b[3],x[8],y[8],i0[5]={0},i1[5]={0};
static unsigned long h[40],t[40];
for(int k=3;k<c;k++)smp(cpu,atol(v[k]));
ss(a);
st(cpu,x);
loc(cpu,i0);
unsigned long r0=ns(CLOCK_MONOTONIC_RAW),m0=ns(CLOCK_MONOTONIC),c0=ns(CLOCK_THREAD_CPUTIME_ID);
unsigned long t0=__rdtsc();
unsigned long last=m0,now,n=0,mn=~0UL;
do {
	now=ns(CLOCK_MONOTONIC);
	unsigned long g=now-last;
	last=now;
	n++;
	if(g<mn)mn=g;
	int k=g?63-__builtin_clzl(g):0;
	h[k]++;
	t[k]+=g;
}
while(now-m0<sec*1e9);
unsigned long t1=__rdtsc();
unsigned long r1=ns(CLOCK_MONOTONIC_RAW),c1=ns(CLOCK_THREAD_CPUTIME_ID);
ss(b);
st(cpu,y);
loc(cpu,i1);
double w=now-m0;
printf("mono %.6f raw %.6f cputime %.6f sched run %.6f wait %.6f slices %lu tscGHz %.6f reads %lu min %lu mean %.1f\n",w/1e9,(r1-r0)/1e9,(c1-c0)/1e9,(b[0]-a[0])/1e9,(b[1]-a[1])/1e9,b[2]-a[2],(t1-t0)/w,n,mn,w/n);
printf("stat ticks user %lu sys %lu idle %lu irq %lu softirq %lu steal %lu; LOC/s %.0f RES %.0f CAL %.0f TLB %.0f IWI %.0f\n",y[0]-x[0],y[2]-x[2],y[3]-x[3],y[5]-x[5],y[6]-x[6],y[7]-x[7],(i1[0]-i0[0])/sec,(i1[1]-i0[1])/sec,(i1[2]-i0[2])/sec,(i1[3]-i0[3])/sec,(i1[4]-i0[4])/sec);
double tot=0;
for(int k=7;k<40;k++)if(h[k]) {
	printf("%8lu..: %8lu  %9.3f ms %.3f %% mean %.0f\n",1UL<<k,h[k],t[k]/1e6,100*t[k]/w,(double)t[k]/h[k]);
	if(k>=8)tot+=t[k];
}
struct timex tx={0};
adjtimex(&tx);
printf("gaps>=256: %.3f %%; timex freq %ld tick %ld status %x\n",100*tot/w,tx.freq,tx.tick,tx.status);
}
